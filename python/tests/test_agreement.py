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
    return {**result, "cost": cost, "run": None}


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


def settled(result: dict) -> dict:
    """The result of a score without its times."""
    estimate = result["estimate"] and without_times(result["estimate"])
    return {**result, "estimate": estimate, "seconds": None, "run": None}


@pytest.mark.parametrize("binarize", ["none", "threshold", "bernoulli"])
def test_scores_are_those_of_the_tool_to_the_last_bit(tool, tmp_path, binarize):
    random = np.random.default_rng(4)
    data = random.random((700, 20)).astype(np.float32)
    path = tmp_path / "data.npy"
    np.save(path, data)
    flags = ["--data", path, "--binarize", binarize, "--seed", 6]
    theirs = settled(tool("score", "gwgm-near", *flags, "--out", tmp_path / "each.npy", "--json"))
    for source, name in ((data, "array"), (path, str(path))):
        ours = lnz.score("gwgm-near", source, binarize=binarize, seed=6)
        assert np.array_equal(ours.log_likelihoods, np.load(tmp_path / "each.npy"))
        expected = {**theirs, "data": {**theirs["data"], "name": name}}
        assert settled(ours.to_dict()) == expected
        greys = [warning.kind for warning in ours.warnings]
        assert greys == (["grey_values"] if binarize == "none" else [])


@pytest.mark.parametrize(
    ("keywords", "flags"),
    [
        ({"log_z": 300.0}, ["--log-z", "300"]),
        ({"log_z": -5.0}, ["--log-z", "-5"]),
        (
            {"no_exact": True, "rounds": 1, "core": 0},
            ["--no-exact", "--rounds", "1", "--core", "0"],
        ),
        ({"method": "exact"}, ["--method", "exact"]),
    ],
    ids=str,
)
def test_scores_agree_wherever_log_z_comes_from(tool, tmp_path, keywords, flags):
    (tmp_path / "narrow.txt").write_text("1 1:1 5:1\n-1 2:1\n")
    path = tmp_path / "narrow.txt"
    theirs = tool("score", "gwgm-hard", "--data", path, *flags, "--json")
    ours = lnz.score("gwgm-hard", path, **keywords)
    assert settled(ours.to_dict()) == settled(theirs)
    assert ours.warnings[-1].kind == "narrow_data"
    assert (ours.warnings[0].kind == "above_one") == (ours.log_z < 0)


def test_saved_results_serve_as_log_z(tool, tmp_path):
    data, saved = tmp_path / "data.npy", tmp_path / "z.json"
    np.save(data, np.eye(20))
    result = lnz.estimate("gwgm-near", chains=64, betas=64)
    saved.write_text(json.dumps(result.to_dict()))
    theirs = tool("score", "gwgm-near", "--data", data, "--result", saved, "--json")
    for log_z in (saved, str(saved), result):
        ours = lnz.score("gwgm-near", data, log_z=log_z)
        assert settled(ours.to_dict()) == settled(theirs)
        assert (ours.std_error, ours.verdict) == (result.std_error, result.verdict)


def test_data_sets_are_known_by_their_names(tool, tmp_path, monkeypatch):
    monkeypatch.setenv("LNZ_CACHE", str(tmp_path))
    # Not in the cache, and said so before any work.
    for use in (
        lambda: lnz.score("gwgm-easy", "mnist"),
        lambda: lnz.estimate("gwgm-easy", data="mnist"),
        lambda: lnz.train("mnist-test", 3),
        lambda: lnz.LogZTracker(data="mnist"),
        lambda: lnz.load("gwgm-easy").free_energy("mnist"),
    ):
        with pytest.raises(FileNotFoundError, match="get it with `lnz data fetch mnist`"):
            use()
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "w8a").write_text("1 2:1 20:1\n-1 6:1\n1 1:1 2:1\n")
    score = lnz.score("gwgm-easy", "web")
    theirs = tool("score", "gwgm-easy", "--data", "web", "--json")
    assert settled(score.to_dict()) == settled(theirs) and theirs["data"]["name"] == "web"
    estimate = lnz.estimate("gwgm-easy", data="web", chains=16, betas=16)
    flags = ["--data", "web", "--chains", 16, "--betas", 16]
    theirs = tool("estimate", "gwgm-easy", *flags, "--json")
    assert without_times(estimate.to_dict()) == without_times(theirs)
    trained = lnz.train("web", 3, epochs=2, track=[2], validation="web")
    assert trained.model.shape == (20, 3)
    tracker = lnz.LogZTracker(data="web", validation="web")
    record = tracker(trained.model)
    last = trained.history[-1]
    assert record.validation_log_likelihood == last.validation_log_likelihood


def test_training_agrees(tool, tmp_path):
    data = (np.random.default_rng(8).random((90, 40)) < 0.3).astype(np.float32)
    np.save(tmp_path / "data.npy", data)
    flags = "--hidden 38 --epochs 4 --batch 9 --learning-rate 0.1 --seed 2 --track 0,3-4 --json"
    flags = [*flags.split(), "--data", tmp_path / "data.npy", "--validation", tmp_path / "data.npy"]
    theirs = tool("train", *flags, "--save-at", 2, "--out", tmp_path / "theirs")
    options = {"epochs": 4, "batch": 9, "learning_rate": 0.1, "seed": 2, "track": "0,3-4"}
    in_memory = lnz.train(data, 38, **options, validation=data)
    kept = lnz.train(data, 38, **options, validation=data, out=tmp_path / "ours", save_at=[2])

    def rows(result: dict) -> list[dict]:
        times = {"seconds": None, "track_seconds": None}
        assert all(times.keys() < row.keys() for row in result["epochs"])
        return [{**row, **times} for row in result["epochs"]]

    assert rows(in_memory.to_dict()) == rows(kept.to_dict()) == rows(theirs)
    assert (len(theirs["epochs"]), theirs["epochs"][0]["reconstruction_error"]) == (5, None)
    for name in ("epoch-2.safetensors", "epoch-4.safetensors", "state.safetensors"):
        ours = (tmp_path / "ours" / name).read_bytes()
        assert ours == (tmp_path / "theirs" / name).read_bytes(), name
    assert in_memory.to_dict()["saved"] == [] and in_memory.to_dict()["history"] is None
    # The last epoch is sampled, and a tracker elsewhere finds the same bits.
    last = in_memory.history[-1]
    assert last.verdict != "exact"
    record = lnz.LogZTracker(data=data, validation=data, seed=2)(in_memory.model)
    assert (record.log_z, record.std_error, record.verdict) == (
        last.log_z,
        last.std_error,
        last.verdict,
    )
    assert record.interval == last.interval
    assert record.train_log_likelihood == last.train_log_likelihood


def test_comparisons_agree(tool):
    ours = lnz.compare("gwgm-easy", betas=64, chains=64, seed=2).to_dict()
    theirs = tool("compare", "gwgm-easy", "--betas", 64, "--chains", 64, "--seed", 2, "--json")
    for result in (ours, theirs):
        del result["run"]
        for strategy in result["strategies"]:
            del strategy["cost"]
            strategy["estimate"].pop("run", None)
            strategy["estimate"].pop("cost", None)
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
    for function, names in (
        (lnz.LogZTracker, ("track_effort", "exact_seconds")),
        (lnz.train, ("track_effort",)),
    ):
        signature = inspect.signature(function).parameters
        assert all(signature[name].default == defaults[name] for name in names), function
    text = " ".join(inspect.getdoc(lnz.estimate).split())
    for value in (f"({defaults['target_error']})", f"({defaults['max_seconds']:.0f})",
                  f"({defaults['core']})", f"({defaults['samples']})", f"({defaults['steps']})",
                  f"({defaults['epsilon']})", f"schedule ({defaults['betas']})",
                  f"chains ({defaults['chains']})"):  # fmt: skip
        assert value in text, value
