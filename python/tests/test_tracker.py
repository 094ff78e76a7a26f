"""The tracker in a training loop."""

from __future__ import annotations

import numpy as np
import pytest

import lnz


def contrastive_divergence(data, hidden, epochs, tracker, rate=0.1):
    """CD-1 in a few lines of numpy, as people write it."""
    random = np.random.default_rng(0)
    sigma = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
    w, b, c = (
        random.normal(0, 0.01, (data.shape[1], hidden)),
        np.zeros(data.shape[1]),
        np.zeros(hidden),
    )
    for epoch in range(epochs):
        for batch in np.array_split(data, 10):
            up = sigma(c + batch @ w)
            down = (
                random.random(batch.shape) < sigma(b + (random.random(up.shape) < up) @ w.T)
            ) * 1.0
            again = sigma(c + down @ w)
            w += rate * (batch.T @ up - down.T @ again) / len(batch)
            b += rate * (batch - down).mean(0)
            c += rate * (up - again).mean(0)
        tracker(w, b, c, step=epoch + 1)
    return lnz.RBM(w, b, c)


@pytest.fixture(scope="module")
def stripes():
    random = np.random.default_rng(1)
    left = np.repeat([[1, 0]], 6, axis=1)
    flips = random.random((400, 12)) < 0.05
    return np.where(random.random((400, 1)) < 0.5, left, 1 - left).astype(float) != flips


def test_the_likelihood_rises_and_is_that_of_the_model(stripes):
    train, validation = stripes[:300].astype(float), stripes[300:].astype(float)
    tracker = lnz.LogZTracker(every=5, data=train, validation=validation)
    model = contrastive_divergence(train, 6, 21, tracker)
    assert [record.step for record in tracker.history] == [1, 6, 11, 16, 21]
    last = tracker.history[-1]
    assert last.verdict == "exact"
    assert last.log_z == lnz.exact(model).log_z
    # F in float32 along training, in float64 here.
    assert last.train_log_likelihood == pytest.approx(
        float(model.score_samples(train).mean()), abs=1e-4
    )
    assert last.validation_log_likelihood == pytest.approx(
        float(model.score_samples(validation).mean()), abs=1e-4
    )
    assert last.train_log_likelihood > tracker.history[0].train_log_likelihood + 1
    columns = tracker.to_dict()
    assert columns["step"] == [1, 6, 11, 16, 21] and set(columns) >= {"log_z", "verdict", "seconds"}
    assert "5 records" in repr(tracker)
    pytest.importorskip("matplotlib", reason="NOT TESTED: plot() needs matplotlib")
    axes = tracker.plot()
    # A line for each set of data; bars of errors are lines, too, without a name.
    assert len(axes[1].get_legend_handles_labels()[1]) == 2


def test_models_that_cannot_be_summed_are_sampled_from_the_data(stripes):
    random = np.random.default_rng(2)
    data = (random.random((50, 60)) < 0.3).astype(float)
    model = lnz.RBM(random.normal(0, 0.05, (60, 50)), random.normal(-1, 0.5, 60), np.zeros(50))
    for tracker in (lnz.LogZTracker(data=data), lnz.LogZTracker()):
        record = tracker(model)
        reference = lnz.estimate(model, target_error=0.02)
        # Weak weights: both are unbiased and within five of their joint errors.
        error = np.hypot(record.std_error, reference.std_error)
        assert record.verdict == "unchecked"
        assert abs(record.log_z - reference.log_z) < 5 * error + 1e-3


def test_other_options_and_other_models(stripes):
    machine = {"W": np.zeros((4, 3)), "vbias": np.zeros(4), "hbias": np.zeros(3)}
    tracker = lnz.LogZTracker(method="ais", betas=8, chains=32)
    record = tracker(machine)
    assert record.verdict == "consistent"
    assert abs(record.log_z - 7 * np.log(2)) < 5 * record.std_error
    assert record.train_log_likelihood is None
    data = np.eye(4)
    record = lnz.LogZTracker(data=data, method="exact")(machine)
    assert record.train_log_likelihood == pytest.approx(-4 * np.log(2), abs=1e-6)
    few = lnz.LogZTracker(data=data, examples=2)(np.zeros((4, 1)), np.arange(4.0), np.zeros(1))
    every = lnz.LogZTracker(data=data[[0, 3]])(np.zeros((4, 1)), np.arange(4.0), np.zeros(1))
    assert few.train_log_likelihood == every.train_log_likelihood
    with pytest.raises(ValueError, match="data has 4 columns, but the model has 2 visible units"):
        lnz.LogZTracker(data=data)(np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    with pytest.raises(ValueError, match="track_effort is 0"):
        lnz.LogZTracker(track_effort=0)(machine)
    with pytest.raises(TypeError, match="2 parameters"):
        tracker(np.zeros((4, 3)), np.zeros(4))
    with pytest.raises(ValueError, match="every is 0"):
        lnz.LogZTracker(0)
    assert "no records yet" in repr(lnz.LogZTracker(3))
