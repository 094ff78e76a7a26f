"""What the tests share: the command-line tool, small models, and figures without a screen."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess

import numpy as np
import pytest

import lnz

# For matplotlib: figures without a screen.
os.environ["MPLBACKEND"] = "Agg"


def pytest_configure():
    """`cargo xtask test --peers` installs what all tests need, so that there nothing is left out."""
    needed: list[str] = []
    if "LNZ_TEST_ALL" in os.environ:
        needed += ["distributed", "submitit"]
        needed += ["h5py", "ipykernel", "matplotlib", "mypy", "nbclient", "pandas"]
        needed += ["rbms", "sklearn", "torch", "tqdm"]
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing or (needed and "LNZ_TOOL" not in os.environ):
        raise pytest.UsageError(f"not all can be tested: {missing or 'LNZ_TOOL'} is missing")


@pytest.fixture(scope="session")
def tool():
    """Runs the tool `lnz` with --json; LNZ_TOOL says where it is."""
    path = os.environ.get("LNZ_TOOL") or shutil.which("lnz")
    if path is None:
        pytest.skip("NOT TESTED: no tool `lnz` to compare with; build it and set LNZ_TOOL")

    def run(*arguments: object) -> dict:
        command = [path, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return json.loads(done.stdout)

    return run


@pytest.fixture
def parameters():
    """Weights and biases of a model of 7 x 5 units."""
    random = np.random.default_rng(1)
    return random.normal(0, 1, (7, 5)), random.normal(0, 1, 7), random.normal(0, 1, 5)


@pytest.fixture
def model(parameters):
    return lnz.RBM(*parameters)


def brute_force(weights, visible_bias, hidden_bias) -> float:
    """log Z by adding up all states of both layers."""
    v, h = weights.shape
    x = (np.arange(2**v)[:, None] >> np.arange(v)) & 1
    y = (np.arange(2**h)[:, None] >> np.arange(h)) & 1
    minus_energy = (x @ visible_bias)[:, None] + (y @ hidden_bias)[None] + x @ weights @ y.T
    largest = minus_energy.max()
    return float(largest + np.log(np.exp(minus_energy - largest).sum()))
