"""The peers' side of `cargo xtask bench`: reads requests as JSON lines and answers with seconds.

Its twin for lnz is crates/lnz/examples/bench_worker.rs. Every peer is written as well as its name
allows: outputs are allocated once, weights are stored in both orientations, nothing is converted or
copied inside the loop. Tried and left out, because it was slower than `tuned` at every size:
torch.compile of the same step.
"""

import functools
import json
import math
import platform
import sys
import time

import numpy as np
import torch

torch.set_grad_enabled(False)


class Chains:
    """AIS chains of an RBM from the uniform start (B = 0), in float32."""

    def __init__(self, path, chains):
        weights, visible_bias, hidden_bias = load(path)
        visible, hidden = weights.shape
        self.W = torch.from_numpy(weights).float().contiguous()
        self.WT = self.W.t().contiguous()
        self.b = torch.from_numpy(visible_bias).float()
        self.c = torch.from_numpy(hidden_bias).float()
        self.log_z0 = (visible + hidden) * math.log(2)
        self.chains = chains
        self.x = torch.empty(chains, visible)
        self.h = torch.zeros(chains, hidden)
        self.a, self.p, self.e, self.u = (torch.empty(chains, hidden) for _ in range(4))
        self.v, self.w = (torch.empty(chains, visible) for _ in range(2))
        self.log_weights = torch.zeros(chains, dtype=torch.float64)

    def start(self):
        self.x.bernoulli_(0.5)
        self.h.bernoulli_(0.5)
        self.log_weights.zero_()

    def usual(self, betas):
        """As one writes it: softplus and bernoulli."""
        softplus = torch.nn.functional.softplus
        for beta, after in zip(betas, betas[1:]):
            torch.addmm(self.c, self.x, self.W, out=self.a)
            self.log_weights += (after - beta) * (self.x @ self.b)
            self.log_weights += (softplus(after * self.a) - softplus(beta * self.a)).sum(1)
            torch.bernoulli(torch.sigmoid(after * self.a), out=self.h)
            torch.addmm(after * self.b, self.h, self.WT, alpha=after, out=self.v)
            torch.bernoulli(torch.sigmoid(self.v), out=self.x)

    def tuned(self, betas):
        """No temporary arrays, uniform_ and lt in place of bernoulli, and the weight from the
        probability: softplus(after a) - softplus(beta a) = -log1p(p expm1(-(after - beta) a))."""
        for beta, after in zip(betas, betas[1:]):
            step = after - beta
            torch.addmm(self.c, self.x, self.W, out=self.a)
            torch.mul(self.a, after, out=self.p).sigmoid_()
            torch.mul(self.a, -step, out=self.e).expm1_().mul_(self.p).log1p_()
            self.log_weights += step * (self.x @ self.b) - self.e.sum(1)
            torch.lt(self.u.uniform_(), self.p, out=self.h)
            torch.addmm(after * self.b, self.h, self.WT, alpha=after, out=self.v).sigmoid_()
            torch.lt(self.w.uniform_(), self.v, out=self.x)

    def gemm(self, betas):
        """The two dense products and nothing else."""
        for _ in betas[1:]:
            torch.mm(self.x, self.W, out=self.a)
            torch.mm(self.h, self.WT, out=self.v)

    def run(self, how, steps):
        self.start()
        getattr(self, how)([k / steps for k in range(steps + 1)])
        if how == "gemm":
            return None
        mean = torch.logsumexp(self.log_weights, 0).item() - math.log(self.chains)
        return self.log_z0 + mean


class Rbms:
    """The rbms package: its own start (B = b) and loop; n + 1 betas are n steps."""

    def __init__(self, path, chains):
        from rbms.bernoulli_bernoulli.classes import BBRBM

        weights, visible_bias, hidden_bias = (torch.from_numpy(t).float() for t in load(path))
        self.model = BBRBM(weight_matrix=weights, vbias=visible_bias, hbias=hidden_bias)
        self.chains = chains

    def run(self, _how, steps):
        from rbms.partition_function.ais import compute_partition_function_ais

        return compute_partition_function_ais(self.chains, steps + 1, self.model)


class Enumeration:
    """log of a sum over the first `states` states of the smaller layer, in float64.

    The inputs of the larger layer are a matrix product in chunks that stay in the cache.
    """

    CHUNK = 256

    def __init__(self, path, states):
        weights, visible_bias, hidden_bias = load(path)
        if weights.shape[0] < weights.shape[1]:
            weights, visible_bias, hidden_bias = weights.T, hidden_bias, visible_bias
        self.WT = np.ascontiguousarray(weights.T)
        self.b, self.c = visible_bias, hidden_bias
        number = np.arange(states)[:, None]
        self.bits = (number >> np.arange(len(self.c)) & 1).astype(np.float64)

    def run(self, how, states):
        return getattr(self, how)(self.bits[:states])

    def numpy(self, all_bits):
        logs = []
        a = np.empty((self.CHUNK, len(self.b)))
        e = np.empty_like(a)
        for first in range(0, len(all_bits), self.CHUNK):
            bits = all_bits[first : first + self.CHUNK]
            np.matmul(bits, self.WT, out=a)
            np.add(a, self.b, out=a)
            # softplus(a) = max(a, 0) + log1p(exp(-|a|)): twice as fast as np.logaddexp(0, a).
            np.abs(a, out=e)
            np.negative(e, out=e)
            np.log1p(np.exp(e, out=e), out=e)
            np.maximum(a, 0, out=a)
            logs.append(bits @ self.c + a.sum(1) + e.sum(1))
        return float(np.logaddexp.reduce(np.concatenate(logs)))

    def torch(self, all_bits):
        softplus = torch.nn.functional.softplus
        all_bits, WT, b, c = map(torch.from_numpy, (all_bits, self.WT, self.b, self.c))
        logs = []
        a = torch.empty(self.CHUNK, len(b), dtype=torch.float64)
        for bits in all_bits.split(self.CHUNK):
            torch.addmm(b, bits, WT, out=a)
            logs.append(bits @ c + softplus(a).sum(1))
        return torch.logsumexp(torch.cat(logs), 0).item()


@functools.lru_cache(maxsize=1)
def load(path):
    with np.load(path) as file:
        names = ("weights", "visible_bias", "hidden_bias")
        return tuple(file[name].astype(np.float64) for name in names)


@functools.lru_cache(maxsize=3)
def peer(kind, path, size):
    return kind(path, size)


def generate(path, visible, hidden, weight, visible_bias, hidden_bias, seed):
    """Writes a model with normal parameters; each is given as [mean, standard deviation]."""
    random = np.random.default_rng(seed)
    np.savez(
        path,
        weights=random.normal(*weight, (visible, hidden)),
        visible_bias=random.normal(*visible_bias, visible),
        hidden_bias=random.normal(*hidden_bias, hidden),
    )
    return {}


def versions():
    from importlib.metadata import version

    names = ("torch", "numpy", "rbms", "scikit-learn")
    return {"python": platform.python_version()} | {name: version(name) for name in names}


def timed(work, how, amount, warm_up):
    torch.manual_seed(1)
    work.run(how, warm_up)
    cpu, clock = time.process_time(), time.perf_counter()
    log_z = work.run(how, amount)
    seconds, cpu = time.perf_counter() - clock, time.process_time() - cpu
    wait_until_idle()
    return {"seconds": seconds, "cpu": cpu, "log_z": log_z}


def wait_until_idle():
    """OpenMP threads may spin for a while after a parallel region; the next one to be measured
    should not pay for that."""
    for _ in range(20):
        before = time.process_time()
        time.sleep(0.02)
        if time.process_time() - before < 0.002:
            return


def ais(model, how, chains, steps, threads):
    torch.set_num_threads(threads)
    return timed(peer(Rbms if how == "rbms" else Chains, model, chains), how, steps, warm_up=2)


def enumerate_states(model, how, states, threads):
    torch.set_num_threads(threads)
    return timed(peer(Enumeration, model, states), how, states, warm_up=Enumeration.CHUNK)


class Training:
    """An epoch of contrastive divergence over binary examples, in float32."""

    BATCH = 100
    RATE = 0.01

    def __init__(self, path, hidden):
        self.X = np.load(path).astype(np.float32)
        self.hidden = hidden

    def torch(self, examples):
        """CD-1 without temporary arrays; the transposed weights are read in place.

        Starts from the log odds of the means, as lnz does; the time does not depend on it."""
        X = torch.from_numpy(self.X[:examples])
        visible, hidden, batch = X.shape[1], self.hidden, self.BATCH
        W = torch.randn(visible, hidden) * 0.01
        WT = W.t()
        b, c = torch.logit((X.sum(0) + 1) / (len(X) + 2)), torch.zeros(hidden)
        p, q, h, u = (torch.empty(batch, hidden) for _ in range(4))
        y, w = torch.empty(batch, visible), torch.empty(batch, visible)
        x = torch.empty(batch, visible)
        rate = self.RATE / batch
        for rows in torch.randperm(len(X)).split(batch):
            torch.index_select(X, 0, rows, out=x)
            torch.addmm(c, x, W, out=p).sigmoid_()
            torch.lt(u.uniform_(), p, out=h)
            torch.addmm(b, h, WT, out=y).sigmoid_()
            torch.lt(w.uniform_(), y, out=y)
            torch.addmm(c, y, W, out=q).sigmoid_()
            W.addmm_(x.t(), p, alpha=rate).addmm_(y.t(), q, alpha=-rate)
            b.add_(x.sum(0) - y.sum(0), alpha=rate)
            c.add_(p.sum(0) - q.sum(0), alpha=rate)
        return float(W.square().mean().sqrt())

    def sklearn(self, examples):
        from sklearn.neural_network import BernoulliRBM

        rbm = BernoulliRBM(
            self.hidden, learning_rate=self.RATE, batch_size=self.BATCH, n_iter=1, random_state=1
        )
        return float(np.sqrt(np.mean(rbm.fit(self.X[:examples]).components_ ** 2)))

    def run(self, how, examples):
        return getattr(self, how)(examples)


def examples(path, images, count):
    """Writes binary examples: the first images of an IDX file, or rows with a fifth of ones."""
    if images:
        import gzip

        with gzip.open(images) as file:
            data = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)[:count]
        data = data > 127
    else:
        random = np.random.default_rng(1)
        data = random.random((count, 784)) < random.beta(0.3, 1.2, 784)
    np.save(path, data.astype(np.uint8))
    return {}


def train(data, how, hidden, persistent, threads):
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(threads)
    work = peer(Training, data, hidden)
    with threadpool_limits(threads):
        return timed(work, how, len(work.X), warm_up=2 * Training.BATCH)


ANSWERS = {
    "versions": versions,
    "generate": generate,
    "examples": examples,
    "ais": ais,
    "enumerate": enumerate_states,
    "train": train,
}

if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = ANSWERS[request.pop("do")](**request)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)
