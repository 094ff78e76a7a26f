"""The package and the command-line tool: the same names, defaults and bits."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest

import lnz
from lnz import _lnz

RUNS = [
    ({}, []),
    ({"no_exact": True}, ["--no-exact"]),
    ({"no_exact": True, "core": 0, "rounds": 2, "seed": 5},
     ["--no-exact", "--core", "0", "--rounds", "2", "--seed", "5"]),
    ({"method": "exact"}, ["--method", "exact"]),
    ({"method": "ais"}, ["--method", "ais"]),
    ({"start": "uniform", "chains": 100, "betas": 200}, ["--start", "uniform", "--chains", "100", "--betas", "200"]),
    ({"init": "ps", "transpose": True, "chains": 64, "betas": 64, "epsilon": 0.01},
     ["--init", "ps", "--transpose", "--chains", "64", "--betas", "64", "--epsilon", "0.01"]),
    ({"start": "metropolis", "flips": "15%", "chain_layout": "single", "samples": 50, "steps": 10,
      "chains": 64, "betas": 64},
     ["--start", "metropolis", "--flips", "15%", "--chain-layout", "single", "--samples", "50", "--steps",
      "10", "--chains", "64", "--betas", "64"]),
    ({"start": "metropolis", "flips": 3, "chains": 64, "betas": 64, "precision": "i32", "no_check": True},
     ["--start", "metropolis", "--flips", "3", "--chains", "64", "--betas", "64", "--precision", "i32",
      "--no-check"]),
    ({"chains": 1, "betas": 8, "precision": "f64"}, ["--chains", "1", "--betas", "8", "--precision", "f64"]),
]  # fmt: skip


def without_times(result: dict) -> dict:
    cost = {key: value for key, value in result["cost"].items() if "seconds" not in key}
    return {**result, "cost": cost}


@pytest.mark.parametrize(("keywords", "flags"), RUNS, ids=lambda value: str(value)[:40])
def test_estimates_are_those_of_the_tool_to_the_last_bit(tool, keywords, flags):
    ours = lnz.estimate("gwgm-hard", **keywords).to_dict()
    theirs = tool("estimate", "gwgm-hard", "--json", *flags)
    assert without_times(ours) == without_times(theirs)


def test_log_weights_are_those_that_the_tool_saves(tool, tmp_path):
    path = tmp_path / "weights.npy"
    tool("estimate", "gwgm-near", "--chains", 100, "--betas", 50, "--save-weights", path, "--json")
    result = lnz.estimate("gwgm-near", chains=100, betas=50)
    assert np.array_equal(np.load(path), result.log_weights)
    # The same number of chains in another order of adding: only rounding may differ.
    largest = result.log_weights.max()
    again = largest + np.log(np.mean(np.exp(result.log_weights - largest)))
    assert again == pytest.approx(result.log_z, rel=1e-14)


def test_schedules_and_data_from_arrays_and_files_agree(tool, tmp_path):
    random = np.random.default_rng(3)
    betas = np.concatenate([[0], np.sort(random.random(30)), [1]])
    (tmp_path / "betas.txt").write_text(" ".join(map(repr, betas.tolist())))
    data = random.integers(0, 256, (50, 20)).astype(np.uint8)
    np.save(tmp_path / "data.npy", data)
    for binarize in ("none", "threshold", "bernoulli"):
        flags = ["--schedule", tmp_path / "betas.txt", "--data", tmp_path / "data.npy", "--seed", 9]
        flags += ["--binarize", binarize, "--json"]
        theirs = tool("estimate", "gwgm-easy", *flags)
        common = {"binarize": binarize, "seed": 9}
        from_arrays = lnz.estimate("gwgm-easy", schedule=betas, data=data, **common)
        files = {"schedule": tmp_path / "betas.txt", "data": str(tmp_path / "data.npy")}
        from_files = lnz.estimate("gwgm-easy", **files, **common)
        assert from_arrays.log_z == theirs["log_z"], binarize
        assert without_times(from_files.to_dict()) == without_times(theirs)


@pytest.mark.parametrize("binarize", ["none", "bernoulli"])
def test_scores_agree(tool, tmp_path, binarize):
    random = np.random.default_rng(4)
    data = random.random((700, 20)).astype(np.float32)
    np.save(tmp_path / "data.npy", data)
    flags = ["--data", tmp_path / "data.npy", "--binarize", binarize, "--seed", 6]
    theirs = tool("score", "gwgm-near", *flags, "--out", tmp_path / "each.npy", "--json")
    for source in (data, tmp_path / "data.npy"):
        ours = lnz.score("gwgm-near", source, binarize=binarize, seed=6)
        assert np.array_equal(ours.log_likelihoods, np.load(tmp_path / "each.npy"))
        for name, value in ours.to_dict().items():
            # The spread over the examples is added up in another order.
            close = pytest.approx(value, rel=1e-14) if name == "sampling_error" else value
            assert theirs[name] == close, name


def test_comparisons_agree(tool):
    ours = lnz.compare("gwgm-easy", betas=64, chains=64, seed=2).to_dict()
    theirs = tool("compare", "gwgm-easy", "--betas", 64, "--chains", 64, "--seed", 2, "--json")
    for result in (ours, theirs):
        for strategy in result["strategies"]:
            del strategy["cost"]
    assert ours == theirs


def test_exact_values_and_models_agree(tool):
    assert without_times(lnz.exact("bms-3").to_dict()) == without_times(
        tool("exact", "bms-3", "--json")
    )
    theirs = tool("models", "--json")["models"]
    assert [(entry.name, entry.epoch) for entry in lnz.models()] == [
        (entry["name"], entry["epoch"]) for entry in theirs
    ]
    assert lnz.load("mnist-20h") == lnz.load("mnist-20h@500")


def test_generated_files_are_the_same_bytes(tool, tmp_path):
    import subprocess  # the tool prints no JSON here

    path = tmp_path / "theirs.safetensors"
    arguments = ["generate", "bms", "--blocks", "2", "--shuffle", "--visible", "5", "--hidden", "6"]
    arguments += ["--lambda", "0.5", "--seed", "4", "-o", str(path)]
    command = inspect.getclosurevars(tool).nonlocals["path"]
    subprocess.run([command, *arguments], check=True, capture_output=True)
    model = lnz.generate_bms(blocks=2, shuffle=True, visible=5, hidden=6, lambda_=0.5, seed=4)
    lnz.save(model, tmp_path / "ours.safetensors")
    assert path.read_bytes() == (tmp_path / "ours.safetensors").read_bytes()


def test_threads_do_not_change_results():
    options = {"no_exact": True, "rounds": 1}
    one, three = (lnz.estimate("gwgm-near", threads=n, **options) for n in (1, 3))
    assert (one.log_z, one.interval) == (three.log_z, three.interval)
    one, three = (lnz.estimate("gwgm-near", threads=n, chains=100, betas=200) for n in (1, 3))
    assert np.array_equal(one.log_weights, three.log_weights)
    assert np.array_equal(one.path, three.path)


def test_documented_defaults_are_those_of_the_library():
    defaults = json.loads(_lnz.defaults())
    family = defaults.pop("gwgm")
    family["lambda_"] = family.pop("lambda")
    for function in (lnz.generate_gwgm, lnz.generate_bms):
        signature = inspect.signature(function).parameters
        assert {name: signature[name].default for name in family} == family
    text = " ".join(inspect.getdoc(lnz.estimate).split())
    for value in (f"({defaults['target_error']})", f"({defaults['max_seconds']:.0f})",
                  f"({defaults['core']})", f"({defaults['samples']})", f"({defaults['steps']})",
                  f"({defaults['epsilon']})", f"schedule ({defaults['betas']})",
                  f"chains ({defaults['chains']})"):  # fmt: skip
        assert value in text, value
