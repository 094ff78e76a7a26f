"""A peer in the league of `lnz bench suite`: log Z of one model, as one JSON object.

python peer.py NAME MODEL.npz BETAS CHAINS SEED THREADS

`torch` is annealed importance sampling as one writes it, from the uniform start; `rbms` is the package of
that name with its own start and loop. Time is that of the sampling alone, without imports and reading.
"""

import json
import math
import sys
import time


def torch_ais(weights, visible_bias, hidden_bias, betas, chains):
    import torch
    from torch.nn.functional import softplus

    weights, b, c = (torch.from_numpy(t) for t in (weights, visible_bias, hidden_bias))
    visible, hidden = weights.shape
    x = torch.bernoulli(torch.full((chains, visible), 0.5, dtype=weights.dtype))
    log_weights = torch.zeros(chains, dtype=torch.float64)
    for k in range(betas):
        beta, after = k / betas, (k + 1) / betas
        a = x @ weights + c
        log_weights += (after - beta) * (x @ b)
        log_weights += (softplus(after * a, threshold=1e9) - softplus(beta * a, threshold=1e9)).sum(1)
        h = torch.bernoulli(torch.sigmoid(after * a))
        x = torch.bernoulli(torch.sigmoid(after * (h @ weights.t() + b)))
    log_z0 = (visible + hidden) * math.log(2)
    log_mean = torch.logsumexp(log_weights, 0).item() - math.log(chains)
    # The relative error of the mean weight is the error of its logarithm, to first order.
    relative = torch.exp(log_weights - log_mean)
    error = (relative.std() / math.sqrt(chains)).item()
    return log_z0 + log_mean, error


def rbms_ais(weights, visible_bias, hidden_bias, betas, chains):
    import torch
    from rbms.bernoulli_bernoulli.classes import BBRBM
    from rbms.partition_function.ais import compute_partition_function_ais

    tensors = (torch.from_numpy(t).float() for t in (weights, visible_bias, hidden_bias))
    model = BBRBM(**dict(zip(("weight_matrix", "vbias", "hbias"), tensors, strict=True)))
    return float(compute_partition_function_ais(chains, betas + 1, model)), None


def main():
    name, path, *numbers = sys.argv[1:]
    betas, chains, seed, threads = map(int, numbers)
    import numpy as np
    import torch

    torch.set_grad_enabled(False)
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    with np.load(path) as file:
        model = [file[key].astype(np.float64) for key in ("weights", "visible_bias", "hidden_bias")]
    ais = {"torch": torch_ais, "rbms": rbms_ais}[name]
    ais(*model, 2, 8)
    clock = time.perf_counter()
    log_z, error = ais(*model, betas, chains)
    print(json.dumps({"log_z": log_z, "error": error, "seconds": time.perf_counter() - clock}))


main()
