"""log Z along a training run: what the tool says, as Python has it."""

from __future__ import annotations

import numpy as np
import pytest

import lnz

EPOCHS = (10, 50, 100)


def checkpoints():
    return [lnz.load(f"mnist-20h@{epoch}") for epoch in EPOCHS]


def growing():
    """Two models of weights that grow: quick to estimate, and to sum."""
    random = np.random.default_rng(3)
    weights, visible, hidden = (random.normal(size=size) for size in [(60, 20), 60, 20])
    return [lnz.RBM(spread * weights, 0.1 * visible, 0.1 * hidden) for spread in (0.5, 0.51)]


def small(**more):
    """Bridges between models that could be summed."""
    return lnz.track(growing(), no_exact=True, rounds=1, chains=256, sweeps=8, **more)


def test_small_models_are_summed():
    found = lnz.track(checkpoints())
    assert (found.unit, found.verdict, len(found)) == ("checkpoint", "exact", 3)
    for row, model in zip(found, checkpoints()):
        assert row.log_z == lnz.exact(model).log_z
        assert (row.origin, row.gap, row.std_error) == ("exact", None, 0.0)
        assert row.sha256 == model.sha256


def test_bridges_are_held_against_an_estimate():
    found = small()
    first, last = found
    assert (first.origin, last.origin) == ("estimate", "bridge")
    exact = lnz.exact(growing()[1]).log_z
    assert abs(last.log_z - exact) < 5 * last.std_error
    assert last.gap is not None and last.off_in_errors is not None
    assert "bridge" in repr(found) and "<table" in found._repr_html_()
    again = small(threads=1)
    assert [row.log_z for row in again] == [row.log_z for row in found]


def test_files_and_memory_are_the_same_run(tmp_path, tool):
    for epoch, model in zip(EPOCHS, checkpoints()):
        lnz.save(model, tmp_path / f"epoch-{epoch}.npz")
    found = lnz.track(tmp_path)
    assert (found.unit, [row.at for row in found]) == ("epoch", list(EPOCHS))
    assert [row.log_z for row in found] == [row.log_z for row in lnz.track(checkpoints())]
    said = tool("track", tmp_path, "--json")
    assert [row["log_z"] for row in said["rows"]] == [row.log_z for row in found]


def test_data_has_its_likelihood():
    data = (np.arange(5 * 784).reshape(5, 784) % 7 == 0).astype(float)
    found = lnz.track(checkpoints()[:2], data=data)
    for row, model in zip(found, checkpoints()):
        expected = lnz.score(model, data).mean_log_likelihood
        # F in float32: seven digits of a sum of some hundreds.
        assert row.log_likelihood == pytest.approx(expected, abs=1e-3)


def test_frame_figure_and_page(tmp_path):
    found = lnz.track(checkpoints())
    pandas = pytest.importorskip("pandas")
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["log_z"]) == [row.log_z for row in found]
    assert {"at", "interval_low", "interval_high", "verdict"} <= set(frame.columns)
    found.report(tmp_path / "run.html")
    assert "Along the run" in (tmp_path / "run.html").read_text()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert found.plot().get_xlabel() == "checkpoint"


@pytest.mark.parametrize(
    "models, error, sentence",
    [
        ([], ValueError, "no models were given"),
        (["mnist-20h"], ValueError, "two at least"),
        (["mnist-20h", "gwgm-easy"], ValueError, "the same shape"),
        (3, TypeError, "models is int"),
    ],
)
def test_what_is_no_run(models, error, sentence):
    with pytest.raises(error, match=sentence):
        lnz.track(models)


def test_bad_settings():
    with pytest.raises(ValueError, match="a multiple of 256"):
        lnz.track(checkpoints(), chains=100)
    with pytest.raises(TypeError, match="check_every"):
        lnz.track(checkpoints(), check_every=1.5)
