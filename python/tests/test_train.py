"""Training: the bits of the command line, and arguments that are checked."""

import numpy as np
import pytest

import lnz


@pytest.fixture
def bars():
    random = np.random.default_rng(1)
    return np.kron(random.random((60, 4)) < 0.4, np.ones((1, 4))).astype(np.float32)


def test_the_likelihood_rises_and_is_exact(bars):
    result = lnz.train(bars, 6, epochs=60, batch=20, learning_rate=0.3, track=20, validation=bars)
    tracked = [epoch for epoch in result.history if epoch.log_z is not None]
    assert [epoch.epoch for epoch in tracked] == [20, 40, 60]
    assert tracked[0].train_log_likelihood < tracked[1].train_log_likelihood
    assert tracked[1].train_log_likelihood < tracked[2].train_log_likelihood
    assert tracked[2].validation_log_likelihood == tracked[2].train_log_likelihood
    assert lnz.exact(result.model).log_z == pytest.approx(tracked[2].log_z, abs=1e-9)
    # F in float32 while training, in float64 here.
    score = lnz.score(result.model, bars).mean_log_likelihood
    assert score == pytest.approx(tracked[2].train_log_likelihood, abs=1e-4)
    assert "60 epochs" in repr(result)
    assert result.model.data_means == pytest.approx(bars.mean(0), abs=1e-6)


def test_any_layout_and_any_number_of_threads_give_the_same_bits(bars):
    def weights(data, **options):
        return lnz.train(data, 5, epochs=3, batch=7, binarize="bernoulli", **options).model.weights

    expected = weights(bars)
    assert np.array_equal(weights(np.asfortranarray(bars), threads=1), expected)
    assert np.array_equal(weights(np.repeat(bars, 2, axis=1)[:, ::2], threads=3), expected)
    assert not np.array_equal(weights(bars, seed=1), expected)


def test_the_command_line_gives_the_same_bits(bars, tool, tmp_path):
    np.save(tmp_path / "bars.npy", bars)
    options = "--hidden 6 --epochs 5 --batch 16 --persistent --momentum 0.5 --learning-rate 0.1"
    folder = tmp_path / "run"
    tool("train", "--json", "--data", str(tmp_path / "bars.npy"), *options.split(), "--out", str(folder))
    by_tool = lnz.load(folder / "epoch-5.safetensors")
    here = lnz.train(
        bars, 6, epochs=5, batch=16, persistent=True, momentum=0.5, learning_rate=0.1
    ).model
    assert np.array_equal(here.weights, by_tool.weights)
    assert np.array_equal(here.visible_bias, by_tool.visible_bias)
    assert here.metadata == by_tool.metadata


def test_a_run_in_a_folder_goes_on_where_it_was_stopped(bars, tmp_path):
    options = {"batch": 16, "track": 2, "learning_rate": 0.2}
    whole = lnz.train(bars, 5, epochs=6, **options)
    lnz.train(bars, 5, epochs=4, out=tmp_path / "run", **options)
    with pytest.raises(ValueError, match="add resume=True to go on with it"):
        lnz.train(bars, 5, epochs=6, out=tmp_path / "run", **options)
    resumed = lnz.train(bars, 5, epochs=6, out=tmp_path / "run", resume=True, **options)
    assert resumed.model == whole.model
    assert [epoch.log_z for epoch in resumed.history] == [epoch.log_z for epoch in whole.history]
    assert len((tmp_path / "run" / "history.csv").read_text().splitlines()) == 7


def test_the_history_has_times_and_what_was_tracked(bars):
    first, last = lnz.train(bars, 5, epochs=1, track="all").history
    assert (first.epoch, last.epoch) == (0, 1)
    assert np.isnan(first.reconstruction_error) and last.reconstruction_error > 0
    assert last.interval == (last.log_z, last.log_z) and last.std_error == 0.0
    assert last.seconds > 0 and last.track_seconds > 0


def test_evenly_grey_values_can_be_drawn():
    grey = np.full((60, 9), 0.5)
    history = lnz.train(grey, 4, epochs=3, binarize="bernoulli").history
    assert history[-1].reconstruction_error == pytest.approx(0.25, abs=0.05)


@pytest.mark.parametrize(
    ("error", "match", "options"),
    [
        (ValueError, "hidden is 0", {"hidden": 0}),
        (TypeError, "hidden is 2.5", {"hidden": 2.5}),
        (ValueError, "momentum is 1", {"momentum": 1.0}),
        (ValueError, 'visible_bias is "mean"; expected `data` or `zero`', {"visible_bias": "mean"}),
        (ValueError, "track names epoch 11, but epochs is 10", {"track": [11]}),
        (ValueError, "track: expected epochs such as", {"track": "often"}),
        (ValueError, "track_effort is 0", {"track_effort": 0.0}),
        (ValueError, "resume needs out", {"resume": True}),
        (ValueError, "validation needs track", {"validation": np.zeros((2, 16))}),
        (ValueError, "diverged", {"learning_rate": 1e6, "epochs": 50}),
        (ValueError, r"data is 2 at \[0, 0\]", {"data": np.full((2, 16), 2.0)}),
        (ValueError, r"data is NaN at \[0, 0\]", {"data": np.full((2, 16), np.nan)}),
        (ValueError, r"data has the shape \(2, 2, 2\)", {"data": np.zeros((2, 2, 2))}),
        (ValueError, "at least one example of one value", {"data": np.zeros((2, 0))}),
        (TypeError, "data has the dtype object", {"data": np.zeros((2, 16), object)}),
        (TypeError, "epochs is None", {"epochs": None}),
        (ValueError, "validation has 3 columns", {"validation": np.zeros((2, 3)), "track": 5}),
        (ValueError, "at least one row", {"data": np.zeros((0, 16))}),
    ],
)
def test_bad_arguments_are_named(bars, error, match, options):
    arguments = {"data": bars, "hidden": 4, "epochs": 10} | options
    data, hidden = arguments.pop("data"), arguments.pop("hidden")
    with pytest.raises(error, match=match):
        lnz.train(data, hidden, **arguments)


def test_a_training_run_displays_itself():
    data = np.eye(4)
    plain = lnz.train(data, 2, epochs=2)
    assert plain._repr_html_() == f"<p>{plain!r}</p>"
    tracked = lnz.train(data, 2, epochs=4, track=2)
    shown = tracked._repr_html_()
    assert shown.count("<tr>") == 3 and "<td" in shown and "4 epochs" in shown
    # Nothing was kept back for validation.
    assert "train" in shown and "validation" not in shown
