"""While work runs: other threads, Ctrl-C, progress, forks and memory."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lnz


@pytest.fixture(scope="module")
def large():
    random = np.random.default_rng(0)
    return lnz.RBM(
        random.normal(0, 0.1, (300, 200)), random.normal(-1, 1, 300), random.normal(0, 1, 200)
    )


def test_python_goes_on_while_work_runs(large):
    """A thread that counts must count on; with the lock held it would stand still."""
    ticks, running = [], True

    def tick():
        while running:
            ticks.append(time.perf_counter())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    lnz.estimate(large, chains=256, betas=2000, no_check=True)
    end = time.perf_counter()
    running = False
    thread.join()
    inside = [tick for tick in ticks if start < tick < end]
    longest = max(np.diff([start, *inside, end]))
    assert end - start > 0.2
    assert longest < 0.5 * (end - start), (
        f"the longest silence was {longest:.2f} s of {end - start:.2f} s"
    )


def test_threads_of_python_get_the_same_answers_side_by_side():
    def work(seed):
        return lnz.estimate("gwgm-near", chains=64, betas=128, seed=seed, no_check=True).log_z

    alone = [work(seed) for seed in range(12)]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(12))) == alone
    model, rows = lnz.load("gwgm-easy"), np.eye(20)
    with ThreadPoolExecutor(6) as pool:
        scores = list(pool.map(lambda _: model.score_samples(rows), range(30)))
    assert all(np.array_equal(score, scores[0]) for score in scores)


WORK = {
    "annealing": "lnz.estimate(model, chains=10**6, betas=10**4, no_check=True)",
    "the search": "lnz.estimate(model, chains=10**6, betas=10**4)",
    "auto": "lnz.estimate(model, no_exact=True, target_error=1e-9, max_seconds=1e6)",
    "sampling": "lnz.estimate(model, samples=10**6, steps=10**4, no_check=True)",
    "an exact sum": "lnz.exact(lnz.RBM(np.ones((40, 60))), force=True)",
    "a comparison": "lnz.compare(model, chains=10**6, betas=10**4, no_check=True)",
    "a decomposition, which cannot be stopped": "lnz.estimate(square, init='ps', no_check=True)",
    "floating point": "lnz.estimate(model, chains=10**6, betas=10**3, precision='f64', no_check=True)",
    "training": "lnz.train(rows, 400, epochs=10**5, steps=10)",
    "tracking": "lnz.train(rows, 400, epochs=2, track=1, track_effort=1e5)",
    "scoring": "lnz.RBM(np.zeros((300, 20000))).score_samples(np.tile(rows, (20, 1)), log_z=0)",
    "scoring a file": "np.save('rows.npy', np.tile(rows, (20, 1))); lnz.score(lnz.RBM(np.zeros((300, 20000))), 'rows.npy', log_z=0)",
}


@pytest.mark.skipif(os.name == "nt", reason="NOT TESTED on Windows: signals are sent otherwise")
@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_stops_within_half_a_second(work, tmp_path):
    script = f"""
        import sys, time
        import numpy as np
        import lnz
        random = np.random.default_rng(0)
        model = lnz.RBM(random.normal(0, 0.1, (300, 200)), np.zeros(300), np.zeros(200))
        square = lnz.RBM(random.normal(0, 0.1, (1200, 1200)))
        rows = random.random((4000, 300)).astype(np.float32)
        print("ready", flush=True)
        try:
            {WORK[work]}
        except KeyboardInterrupt:
            print(time.time(), flush=True)
            # The interpreter is whole, and the next call works.
            assert lnz.estimate("gwgm-easy").verdict == "exact"
            sys.exit(7)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # Elsewhere, so that the installed package is imported and not its source.
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        pressed = time.time()
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 7, err
    assert float(out) - pressed < 0.5


def test_progress_is_told_to_a_function(large):
    seen = []
    lnz.estimate(large, chains=256, betas=4000, no_check=True, progress=seen.append)
    assert seen and all(isinstance(news, lnz.Progress) for news in seen)
    last = seen[-1]
    assert (last.phase, last.total) == ("annealing", 256 * 4000)
    assert 0 < last.done <= last.total and 0 < last.beta <= 1 and last.log_z is not None


def test_an_exception_of_the_progress_function_ends_the_work(large):
    class Enough(Exception):
        pass

    def refuse(_):
        raise Enough

    clock = time.perf_counter()
    with pytest.raises(Enough):
        lnz.estimate(large, chains=10**6, betas=10**4, no_check=True, progress=refuse)
    assert time.perf_counter() - clock < 5


def test_a_bar_is_shown_when_asked_for(large, capsys):
    pytest.importorskip("tqdm")
    lnz.estimate(large, chains=256, betas=4000, no_check=True, progress=True)
    assert "annealing" in capsys.readouterr().err
    lnz.estimate(large, chains=256, betas=500, no_check=True)
    assert capsys.readouterr().err == ""


def in_a_child(seed):
    return lnz.estimate("gwgm-near", chains=64, betas=128, seed=seed, no_check=True).log_z


@pytest.mark.skipif(not hasattr(os, "fork"), reason="NOT TESTED here: this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_process_that_was_forked_can_work_too():
    expected = [in_a_child(seed) for seed in range(4)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(in_a_child, range(4)).get(timeout=60) == expected


def resident_kilobytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


@pytest.mark.skipif(
    not os.path.exists("/proc/self/status"), reason="NOT TESTED: no /proc to read memory from"
)
def test_memory_does_not_grow_over_a_thousand_calls():
    random = np.random.default_rng(0)
    parameters = random.normal(0, 0.1, (200, 100)), np.zeros(200), np.zeros(100)
    data = random.integers(0, 2, (200, 200)).astype(float)

    def call(seed):
        model = lnz.RBM(*parameters)
        result = lnz.estimate(
            model, chains=16, betas=4, no_check=True, seed=seed, samples=16, steps=2
        )
        assert len(result.log_weights) == 16 and result.path is not None
        model.free_energy(data)
        repr(result), result._repr_html_(), result.to_dict(), model.weights
        with pytest.raises(ValueError):
            lnz.RBM(parameters[0], np.zeros(3), parameters[2])

    for seed in range(100):
        call(seed)
    before = resident_kilobytes()
    for seed in range(1000):
        call(seed)
    grown = resident_kilobytes() - before
    # One copy of the model is 160 kB: losing one in each call would be 160 MB, losing only the 16
    # samples of each call 0.2 MB on top of the allocator's own unrest of about a megabyte.
    assert grown < 8_000, f"{grown} kB"
