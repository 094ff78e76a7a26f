"""Executors: whoever carries out the orders, the bits are those of one process."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import lnz
from lnz import _executor


@pytest.fixture(scope="module")
def pool():
    # Processes that are forked from one with threads may hang, whatever they run.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


@pytest.fixture
def every_order(monkeypatch):
    """Small work is sent, too."""
    monkeypatch.setattr(_executor, "LEAST_SECONDS", 0.0)


def runs():
    """What is computed: plain AIS, the rounds of auto with several parts, a sum, and tempering."""
    return [
        lambda **more: lnz.estimate("gwgm-hard", chains=200, betas=100, no_check=True, **more),
        lambda **more: lnz.estimate("gwgm-hard", no_exact=True, rounds=2, core=64, **more),
        lambda **more: lnz.exact("gwgm-hard", **more),
        lambda **more: lnz.score("gwgm-hard", np.eye(20), chains=64, betas=50, **more).log_z,
        lambda **more: lnz.estimate("gwgm-hard", method="tempering", chains=40, rounds=2, **more),
    ]


def bits(result):
    if isinstance(result, float):
        return result
    found = result.to_dict()
    del found["run"], found["cost"]
    return found


def check(executor):
    for run in runs():
        assert bits(run(executor=executor)) == bits(run())


def test_processes_give_the_same_bits(pool, every_order):
    check(pool)
    alone, together = (
        lnz.compare("gwgm-hard", chains=64, betas=50, **more)
        for more in ({}, {"executor": pool})
    )
    assert [row.log_z for row in alone] == [row.log_z for row in together]


def test_any_executor_will_do(every_order):
    with ThreadPoolExecutor(3) as executor:
        check(executor)


def test_progress_arrives(pool):
    news = []
    lnz.estimate("gwgm-hard", chains=4096, betas=400, no_check=True, executor=pool, progress=news.append)
    done = [progress.done for progress in news if progress.phase == "annealing"]
    assert done and done == sorted(done) and max(done) <= 4096 * 400


def test_many_models_one_on_each_worker(pool):
    models = [lnz.generate_gwgm(seed=seed) for seed in range(5)]
    alone = lnz.estimate_many([*models, "no-such-model"])
    rows = []
    together = lnz.estimate_many([*models, "no-such-model"], executor=pool, progress=rows.append)
    assert [row.log_z for row in together] == [row.log_z for row in alone]
    assert len(rows) == len(together) == 6
    assert [row.model for row in together.failed] == ["no-such-model"]
    with pytest.raises(TypeError, match="unexpected keyword"):
        lnz.estimate_many(models, colour="red")


OF_SAMPLING = {"no_exact": True, "rounds": 1, "core": 0}


def test_models_of_a_run_share_their_starts_as_the_tool_does(tool, tmp_path):
    models = []
    for seed in range(3):
        models.append(str(tmp_path / f"m-{seed}.npz"))
        lnz.save(lnz.generate_gwgm(seed=seed), models[-1])
    alone = [row.log_z for row in lnz.estimate_many(models, **OF_SAMPLING)]
    shared = lnz.estimate_many([models[0], "no-such-model", *models[1:]], share_starts=True, **OF_SAMPLING)
    assert [row.model for row in shared.failed] == ["no-such-model"]
    found = [row.log_z for row in shared if row.error is None]
    assert found[0] == alone[0] and found[1] != alone[1]
    options = ["--no-exact", "--rounds", "1", "--core", "0", "--share-starts", "--json"]
    table = ["--csv", tmp_path / "rows.csv"]
    # Each time one row is new.
    told = [tool("estimate", *models[: k + 1], *options, *table)["log_z"] for k in range(3)]
    assert told == found
    # One by one.
    first = lnz.estimate(models[0], **OF_SAMPLING)
    assert lnz.estimate(models[1], after=first, **OF_SAMPLING).log_z == found[1]


def test_starts_that_cannot_be_shared_are_refused(pool):
    models = [lnz.generate_gwgm(seed=seed) for seed in range(2)]
    with pytest.raises(ValueError, match="drop one of them"):
        lnz.estimate_many(models, share_starts=True, executor=pool)
    with pytest.raises(TypeError, match="expected True or False"):
        lnz.estimate_many(models, share_starts="yes")
    first = lnz.estimate(models[0], **OF_SAMPLING)
    with pytest.raises(TypeError, match="after is"):
        lnz.estimate(models[1], after=first.log_z)
    with pytest.raises(ValueError, match="after has no effect"):
        lnz.estimate(models[1], after=first, method="ais")
    smaller = lnz.generate_gwgm(visible=10, seed=1)
    with pytest.raises(ValueError, match="similar model"):
        lnz.estimate(smaller, after=first, no_exact=True)


class Misled:
    """An executor that changes what it is given, or fails."""

    def __init__(self, change=None, error=None):
        self.change, self.error = change, error

    def submit(self, function, model, order):
        future = Future()
        try:
            if self.error is not None:
                raise self.error
            future.set_result(function(*self.change(model, json.loads(order))))
        except Exception as error:
            future.set_exception(error)
        return future


def other_version(model, order):
    order["task"]["lnz"] = "99.0.0"
    return model, json.dumps(order)


def other_items(model, order):
    order["items"] = {"start": 0, "end": 1}
    return model, json.dumps(order)


def other_model(model, order):
    return model[:-8] + bytes([1] * 8), json.dumps(order)


@pytest.mark.parametrize(
    "executor, sentence",
    [
        (Misled(other_version), "the order comes from lnz 99.0.0"),
        (Misled(other_items), "has the items 0..1"),
        (Misled(other_model), "another model"),
        (Misled(error=ModuleNotFoundError("No module named 'lnz'")), "has no lnz"),
        (Misled(error=OSError("out of order")), "the executor failed: OSError: out of order"),
    ],
)
def test_what_goes_wrong_elsewhere_is_said(executor, sentence):
    with pytest.raises(RuntimeError, match=sentence):
        lnz.estimate("gwgm-hard", chains=200, betas=10, no_check=True, executor=executor)


def test_bad_arguments():
    with pytest.raises(TypeError, match="executor is int"):
        lnz.estimate("gwgm-hard", executor=2)
    with pytest.raises(ValueError, match="max_seconds does not go with executor"):
        lnz.estimate("gwgm-hard", chains=8, max_seconds=1, executor=Misled())


def test_a_pool_whose_worker_dies_says_so():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        executor.submit(os.getpid).result()
        for process in list(executor._processes.values()):
            process.kill()
        with pytest.raises(RuntimeError, match="BrokenProcessPool"):
            lnz.estimate("gwgm-hard", chains=64, betas=10, no_check=True, executor=executor)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_cancels_what_has_not_begun():
    code = textwrap.dedent("""
        import lnz, sys
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        def tell(news):
            print("on its way", flush=True)

        if __name__ == "__main__":
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                try:
                    lnz.estimate("gwgm-hard", chains=1 << 16, betas=20000, executor=pool,
                                 no_check=True, progress=tell)
                except KeyboardInterrupt:
                    waiting = sum(not item.future.cancelled()
                                  for item in pool._pending_work_items.values())
                    print("stopped", waiting, flush=True)
                    for process in pool._processes.values():
                        process.kill()
    """)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "on its way\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    word, waiting = rest.splitlines()[-1].split()
    # The one that runs, and at most one that the pool has handed on already.
    assert word == "stopped" and int(waiting) <= 2, rest


def needed(name):
    """Skips loudly what is not installed; `cargo xtask test --peers` installs it."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"NOT TESTED: {name} is not installed")


@pytest.fixture(scope="module")
def client():
    needed("distributed")
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_dask_gives_the_same_bits(client, every_order):
    check(client)


def test_dask_recovers_when_a_worker_is_killed(client):
    settings = {"chains": 8192, "betas": 3000, "no_check": True}
    alone = lnz.estimate("gwgm-hard", **settings)
    killed = []

    def kill(news):
        if not killed and 0 < news.done < news.total:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    again = lnz.estimate("gwgm-hard", executor=client, progress=kill, **settings)
    assert killed
    assert bits(again) == bits(alone)


def test_submitit_gives_the_same_bits(tmp_path, every_order):
    needed("submitit")
    import submitit

    executor = submitit.LocalExecutor(tmp_path)
    executor.update_parameters(timeout_min=5)
    run = runs()[0]
    assert bits(run(executor=executor)) == bits(run())


def test_mpi_gives_the_same_bits(tmp_path):
    needed("mpi4py")
    mpiexec = shutil.which("mpiexec")
    if mpiexec is None:
        pytest.skip("NOT TESTED: no mpiexec (Debian: openmpi-bin)")
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent("""
        import lnz
        from lnz import _executor
        from mpi4py.futures import MPIPoolExecutor

        class Counting(MPIPoolExecutor):
            submitted = 0

            def submit(self, *arguments, **more):
                Counting.submitted += 1
                return super().submit(*arguments, **more)

        if __name__ == "__main__":
            _executor.LEAST_SECONDS = 0.0  # small work is sent, too
            with Counting() as executor:
                workers = executor.num_workers
                plain = lnz.estimate("gwgm-hard", chains=200, betas=100, no_check=True, executor=executor)
                rounds = lnz.estimate("gwgm-hard", no_exact=True, rounds=2, core=64, executor=executor)
                exact = lnz.exact("gwgm-hard", executor=executor)
            print(workers, Counting.submitted)
            print(*(found.log_z.hex() for found in (plain, rounds, exact)))
    """))
    command = [mpiexec, "--oversubscribe", "-n", "4", sys.executable, "-m", "mpi4py.futures", str(script)]
    # Ranks that wait leave the processor to those that work.
    allowed = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
    }
    done = subprocess.run(command, env={**os.environ, **allowed}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    counts, found = done.stdout.splitlines()
    workers, submitted = map(int, counts.split())
    # One of the four ranks hands out the orders.
    assert workers == 3 and submitted > 10, counts
    assert found.split() == [run().log_z.hex() for run in runs()[:3]]
