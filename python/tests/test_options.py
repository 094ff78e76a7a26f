"""Options that are wrong are refused in Python's words, with their names."""

from __future__ import annotations

import numpy as np
import pytest

import lnz

BAD = [
    ({"betas": 0}, ValueError, "betas is 0; expected a whole number from 1"),
    ({"betas": -3}, ValueError, "betas is -3"),
    ({"betas": 2.5}, TypeError, "betas is 2.5, a float; expected a whole number"),
    ({"chains": "many"}, TypeError, "chains is 'many'"),
    ({"chains": True}, TypeError, "chains is True"),
    ({"threads": 0}, ValueError, "threads is 0"),
    ({"seed": -1}, ValueError, "seed is -1"),
    ({"seed": None}, TypeError, "seed is None"),
    ({"epsilon": 0.5, "start": "gibbs"}, ValueError, "epsilon is 0.5"),
    ({"epsilon": float("nan"), "start": "gibbs"}, ValueError, "epsilon is NaN"),
    ({"epsilon": "small"}, TypeError, "epsilon is 'small'"),
    ({"target_error": 0.0, "no_exact": True}, ValueError, "target_error is 0"),
    ({"start": "nowhere"}, ValueError, 'start is "nowhere"; expected one of `uniform`'),
    ({"start": 3}, TypeError, "start is 3"),
    ({"init": "middle"}, ValueError, "init is"),
    ({"method": "magic"}, ValueError, "method is"),
    ({"precision": "f32"}, ValueError, "precision is"),
    ({"chain_layout": "round"}, ValueError, "chain_layout is"),
    ({"flips": "some", "start": "metropolis"}, ValueError, 'flips is "some"'),
    ({"flips": 0, "start": "metropolis"}, ValueError, "flips is 0"),
    ({"transpose": "yes"}, TypeError, "transpose is 'yes'"),
    ({"schedule": [0, 0.5]}, ValueError, "schedule is 0.5 at the end"),
    ({"schedule": [[0, 1]]}, TypeError, "schedule is neither"),
    ({"schedule": "absent.txt"}, ValueError, "absent.txt: schedule cannot be read"),
    ({"progress": 3}, TypeError, "progress is 3"),
    # Options that do not go together, as on the command line.
    ({"start": "gibbs", "flips": 3}, ValueError, 'flips has no effect with start="gibbs"'),
    ({"start": "data"}, ValueError, 'start="data" needs data'),
    ({"betas": 10, "schedule": [0, 1]}, ValueError, "betas does not go with schedule"),
    ({"method": "exact", "no_exact": True}, ValueError, 'method="exact" and no_exact contradict'),
    ({"method": "exact", "chains": 9}, ValueError, 'chains has no effect with method="exact"'),
    ({"betas": 9, "rounds": 9}, ValueError, "rounds has no effect with betas"),
    ({"binarize": "threshold"}, ValueError, "binarize needs data"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD, ids=str)
def test_bad_options_are_refused_by_name(options, error, message):
    with pytest.raises(error) as caught:
        lnz.estimate("gwgm-easy", **options)
    assert message in str(caught.value)
    assert "--" not in str(caught.value)


def test_numpy_numbers_are_numbers():
    options = {"betas": np.int64(16), "chains": np.uint8(32), "epsilon": np.float32(0.25)}
    result = lnz.estimate("gwgm-easy", **options, transpose=np.True_)
    assert result.settings["chains"] == 32
    assert result.settings["transpose"] is True


def test_models_that_are_none_are_refused(tmp_path):
    with pytest.raises(ValueError, match="did you mean `gwgm-hard`"):
        lnz.load("gwgm-hrad")
    with pytest.raises(FileNotFoundError, match="absent.npz"):
        lnz.load(tmp_path / "absent.npz")
    with pytest.raises(TypeError, match="model is a int; expected an RBM"):
        lnz.estimate(3)
    (tmp_path / "text.npz").write_text("not a model")
    with pytest.raises(ValueError, match="text.npz"):
        lnz.load(tmp_path / "text.npz")
    with pytest.raises(OSError, match="its folder does not exist"):
        lnz.save("gwgm-hard", tmp_path / "missing" / "model.npz")
    with pytest.raises(ValueError, match="units is 'tertiary'"):
        lnz.RBM([[1.0]], units="tertiary")
    with pytest.raises(ValueError, match="force=True"):
        lnz.exact(lnz.RBM(np.ones((50, 50))))
    with pytest.raises(ValueError, match="choose a smaller model"):
        lnz.generate_gwgm(visible=10**8, hidden=10**8)


def test_parts_of_a_file_can_be_named(tmp_path):
    weights = np.arange(6.0).reshape(2, 3) / 10
    np.savez(tmp_path / "odd.npz", alpha=weights, beta=[0.1, 0.2], gamma=[1, 2, 3])
    with pytest.raises(ValueError, match="has no weights: found `alpha`, `beta`, `gamma`"):
        lnz.load(tmp_path / "odd.npz")
    named = lnz.load(tmp_path / "odd.npz", weights="alpha", visible_bias="beta", hidden_bias="none")
    assert named.shape == (2, 3)
    assert named.hidden_bias.tolist() == [0, 0, 0]
    np.save(tmp_path / "c.npy", [4, 5, 6])
    apart = lnz.load(tmp_path / "odd.npz", weights="alpha", hidden_bias=tmp_path / "c.npy")
    assert apart.hidden_bias.tolist() == [4, 5, 6]


def test_what_a_file_leaves_open_is_noted(tmp_path):
    np.savez(tmp_path / "square.npz", W=[[1.0, 2.0], [3.0, 4.0]], b=[0, 0], c=[0, 0])
    model = lnz.load(tmp_path / "square.npz")
    assert len(model.notes) == 1 and "square" in model.notes[0]
    turned = lnz.load(tmp_path / "square.npz", layout="hv")
    assert turned.notes == []
    assert turned.weights.tolist() == [[1, 3], [2, 4]]
    with pytest.raises(ValueError, match="layout is 'up'"):
        lnz.load(tmp_path / "square.npz", layout="up")
