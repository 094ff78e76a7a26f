"""Measures orders, and simulates many workers from what was measured: the figures of docs/scale.md.

    python bench/scale.py measure    two threads, two processes and Dask; bytes of an order; many models
    python bench/scale.py simulate   1 to 10,000 workers, with stragglers and failures
"""

from __future__ import annotations

import heapq
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import lnz

UNITS = (784, 500)


def model():
    """Weights of the size of a trained model; how fast it is does not depend on what it has learnt."""
    random = np.random.default_rng(0)
    visible, hidden = UNITS
    return lnz.RBM(
        random.normal(0, 0.05, UNITS), random.normal(-1, 1, visible), random.normal(0, 1, hidden)
    )


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def measure(chains=4096, betas=4096, repeats=3):
    rbm = model()
    settings = {"chains": chains, "betas": betas, "start": "uniform", "no_check": True}
    ways = {"2 threads": {"threads": 2}}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        ways["2 processes"] = {"executor": pool}
        client = None
        try:
            from distributed import Client, LocalCluster

            cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
            client = Client(cluster)
            ways["Dask, 2 worker processes"] = {"executor": client}
        except ImportError:
            print("NOT MEASURED: Dask is not installed")
        for more in ways.values():  # workers start, and import lnz
            lnz.estimate(rbm, chains=64, betas=8, start="uniform", no_check=True, **more)
        taken = {way: [] for way in ways}
        for _ in range(repeats):  # by turns: what else the machine does meets all of them
            for way, more in ways.items():
                taken[way].append(seconds(lambda: lnz.estimate(rbm, **settings, **more)))
        base = min(taken["2 threads"])
        print(f"{chains} chains x {betas} betas at {UNITS[0]} x {UNITS[1]}, best of {repeats}")
        for way, times in taken.items():
            print(f"  {way:<26} {min(times):8.2f} s   {base / min(times):.2f} of the threads")
        if client is not None:
            handing_out(client)
            client.close()
            cluster.close()
    orders(rbm, settings)
    many()


def handing_out(client, count=2000):
    """What an order costs the scheduler, whatever is in it."""
    took = seconds(lambda: client.gather(client.map(float, range(count), pure=False)))
    print(f"Dask hands out {count} empty orders in {took:.2f} s: {1e3 * took / count:.2f} ms each")


class Weigh:
    """Carries orders out here and weighs them."""

    _max_workers = 32

    def __init__(self):
        self.sizes, self.times = [], []

    def submit(self, function, model, order):
        from concurrent.futures import Future

        future = Future()
        begin = time.perf_counter()
        output = function(model, order)
        self.times.append(time.perf_counter() - begin)
        self.sizes.append((len(model), len(order), len(output)))
        future.set_result(output)
        return future


def orders(rbm, settings):
    weigh = Weigh()
    settings = {**settings, "betas": 64}
    lnz.estimate(rbm, **settings, executor=weigh)
    (of_model, of_order, of_output), count = weigh.sizes[0], len(weigh.sizes)
    chains = settings["chains"] / count
    steps = chains * settings["betas"]
    print(f"an order of {chains:.0f} chains: {of_order} bytes there (and the model, {of_model}), {of_output} back")
    print(f"  {of_output / chains:.2f} bytes per chain, {of_output / steps:.4f} per chain-step at {settings['betas']} betas")
    each = statistics.median(weigh.times)
    print(f"  {1e6 * each / steps:.3f} microseconds per chain-step on one core")
    spread = float(np.std(np.log(weigh.times)))
    print(f"  {count} orders, the standard deviation of the log of their times {spread:.3f}")


def many(count=200):
    tool = os.environ.get("LNZ_TOOL")
    if tool is None:
        print("NOT MEASURED: many models; set LNZ_TOOL to the tool")
        return
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(count):
            lnz.save(lnz.generate_gwgm(seed=seed, visible=12, hidden=30), f"{folder}/m{seed}.npz")
        names = [f"{folder}/m{seed}.npz" for seed in range(count)]
        run = lambda *words: subprocess.run([tool, *words], check=True, capture_output=True)  # noqa: E731
        apart = seconds(lambda: [run("estimate", name, "--json") for name in names])
        together = seconds(lambda: run("estimate", *names, "--json"))
        print(f"{count} models of 12 x 30: {apart:.2f} s as {count} commands, {together:.2f} s as one: {apart / together:.1f} times")


def simulated(workers, orders, seconds_of_order, dispatch, serial, spread, failure, random):
    """Time until all orders are done. Orders go out one after the other, each takes a lognormal time, and
    with some probability its worker dies halfway and the order goes out again."""
    free = [0.0] * workers
    waiting, clock, end = orders, 0.0, 0.0
    while waiting:
        waiting -= 1
        clock += dispatch
        begin = max(clock, heapq.heappop(free))
        took = seconds_of_order * random.lognormal(-spread * spread / 2, spread)
        if random.random() < failure:
            waiting += 1
            heapq.heappush(free, begin + took / 2 + 10)  # until there is another worker
            continue
        heapq.heappush(free, begin + took)
        end = max(end, begin + took)
    return serial + end


def simulate(order_seconds=30.0, dispatch=0.002, serial=5.0):
    """A run of 10,000 orders of half a minute: 83 hours of one core."""
    random = np.random.default_rng(1)
    print("workers   ideal   stragglers   and failures   efficiency")
    for workers in (1, 10, 100, 1000, 10_000):
        count = 10_000
        ideal = count * order_seconds / workers
        row = [
            simulated(workers, count, order_seconds, dispatch, serial, spread, failure, random)
            for spread, failure in ((0.3, 0.0), (0.3, 0.01))
        ]
        print(f"{workers:7d} {ideal:8.0f} s {row[0]:9.0f} s {row[1]:12.0f} s {ideal / row[1]:12.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(*map(int, sys.argv[2:]))
    elif sys.argv[1:2] == ["simulate"]:
        simulate()
    else:
        sys.exit(__doc__)
