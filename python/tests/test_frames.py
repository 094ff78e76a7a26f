"""Rows as data frames of pandas."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import lnz


@pytest.fixture
def pandas():
    return pytest.importorskip("pandas", reason="NOT TESTED: to_frame() needs pandas; install it")


def results():
    tracker = lnz.LogZTracker(every=2, data=np.eye(6))
    for _ in range(3):
        tracker(np.zeros((6, 3)), np.zeros(6), np.zeros(3))
    training = lnz.train(np.eye(6), 3, epochs=4, batch=3, track=2)
    comparison = lnz.compare("gwgm-easy", betas=16, chains=32)
    return tracker, training, comparison


def test_rows_become_rows_of_a_data_frame(pandas):
    tracker, training, comparison = results()
    for result, rows in (
        (tracker, tracker.history),
        (training, training.history),
        (comparison, comparison.strategies),
    ):
        frame = result.to_frame()
        assert isinstance(frame, pandas.DataFrame)
        assert len(frame) == len(rows)
        seen = [value for value in frame["log_z"] if not pandas.isna(value)]
        assert seen == [row.log_z for row in rows if row.log_z is not None]
        assert not {"interval", "log_weights"} & set(frame.columns)
    low, high = comparison[0].interval
    first = comparison.to_frame().iloc[0]
    assert (first["interval_low"], first["interval_high"]) == (low, high)
    assert list(tracker.to_frame()["step"]) == [0, 2]
    assert list(training.to_frame()["epoch"]) == [1, 2, 3, 4]


def test_a_tracker_without_records_has_its_columns(pandas):
    frame = lnz.LogZTracker().to_frame()
    assert len(frame) == 0 and {"step", "log_z", "interval_low"} <= set(frame.columns)


def test_without_pandas_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="install lnz\\[frame\\] or pandas"):
        lnz.LogZTracker().to_frame()
