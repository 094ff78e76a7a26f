"""Results: values that do not change, show themselves, and are right."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle

import numpy as np
import pytest
from conftest import brute_force

import lnz


@pytest.fixture(scope="module")
def ais():
    return lnz.estimate("gwgm-hard", start="uniform", transpose=True)


@pytest.fixture(scope="module")
def auto():
    return lnz.estimate("gwgm-hard", no_exact=True)


def test_small_models_have_the_log_z_of_adding_up_all_states(model, parameters):
    expected = brute_force(*parameters)
    assert lnz.exact(model).log_z == pytest.approx(expected, rel=1e-13)
    assert lnz.estimate(parameters).log_z == lnz.exact(model).log_z
    sampled = lnz.estimate(model, method="ais")
    # Five standard errors; the seed is fixed.
    assert abs(sampled.log_z - expected) < 5 * sampled.std_error
    assert lnz.exact(model.T).log_z == pytest.approx(expected, rel=1e-13)


def test_spins_are_converted_exactly():
    random = np.random.default_rng(4)
    w, b, c = random.normal(size=(4, 3)), random.normal(size=4), random.normal(size=3)
    states = lambda n: 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)  # noqa: E731
    s, t = states(4), states(3)
    expected = np.log(np.exp((s @ b)[:, None] + (t @ c)[None] + s @ w @ t.T).sum())
    assert lnz.exact(lnz.RBM(w, b, c, units="spin")).log_z == pytest.approx(expected, rel=1e-13)


def test_a_false_convergence_is_called_suspect_with_a_reason_and_a_remedy(ais):
    assert ais.verdict == "suspect"
    assert ais.std_error < 0.02 and abs(ais.log_z - 275.707) > 100
    assert ais.lower_bound == pytest.approx(275.7074, abs=1e-3)
    warning = ais.warnings[0]
    assert (warning.kind, warning.advice) == ("below_lower_bound", 'try method="auto"')
    assert "suspect: 82.04 is wrong" in repr(ais)
    assert "--" not in repr(ais)


def grid(side, strength):
    """Spins on a square, visible and hidden like the fields of a chess board."""
    random = np.random.default_rng(5)
    fields = [(i, j) for i in range(side) for j in range(side)]
    black, white = ([f for f in fields if sum(f) % 2 == colour] for colour in (0, 1))
    w = np.zeros((len(black), len(white)))
    for k, (i, j) in enumerate(black):
        for other in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            if other in white:
                w[k, white.index(other)] = random.uniform(-strength, strength)
    return lnz.RBM(w, np.zeros(len(black)), np.zeros(len(white)), units="spin")


def test_bounds_hold_the_exact_value_and_are_part_of_sampled_results():
    model = grid(10, 1.0)
    log_z = lnz.exact(model).log_z
    floor, ceiling = lnz.bounds(model, entries=5000, passes=20)
    assert floor < log_z < ceiling < floor + 20
    sampled = lnz.estimate(model, method="ais", betas=64, chains=64)
    assert sampled.proven[0] <= log_z <= sampled.proven[1]
    assert lnz.exact(model).proven is None
    assert lnz.bounds(lnz.RBM(np.ones((90, 90)), np.zeros(90), np.zeros(90))) is None
    for options in ({"entries": 0}, {"passes": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            lnz.bounds(model, **options)
    with pytest.raises(TypeError, match="passes"):
        lnz.bounds(model, passes=1.5)


def test_results_cannot_be_changed(ais):
    with pytest.raises(dataclasses.FrozenInstanceError):
        ais.log_z = 0.0
    with pytest.raises(ValueError):
        ais.log_weights[0] = 0.0
    with pytest.raises(TypeError):
        ais.warnings[0] = None
    ais.to_dict()["log_z"] = 0.0
    assert ais.to_dict()["log_z"] == ais.log_z


def test_the_path_leads_from_the_start_to_the_estimate(ais):
    beta, log_z = ais.path.T
    assert (beta[0], beta[-1]) == (0.0, 1.0)
    assert np.all(np.diff(beta) > 0)
    assert log_z[0] == pytest.approx(200 * math.log(2))
    assert log_z[-1] == pytest.approx(ais.log_z, rel=1e-12)


def test_results_survive_json_pickle_and_copies(ais, auto, model):
    for result in (ais, auto):
        assert json.loads(json.dumps(result.to_dict())) == result.to_dict()
        again = pickle.loads(pickle.dumps(result))
        assert again == result and repr(again) == repr(result)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again == model and again.name == model.name
    generated = lnz.generate_gwgm(visible=4, hidden=5)
    again = pickle.loads(pickle.dumps(generated))
    assert (again.exact_log_z, again.metadata) == (generated.exact_log_z, generated.metadata)


def test_infinite_errors_are_infinite_here_and_null_in_json():
    result = lnz.estimate("gwgm-easy", chains=1, betas=16, no_check=True)
    assert result.std_error == math.inf and result.interval[1] == math.inf
    assert result.to_dict()["std_error"] == "Infinity"


def test_results_have_a_readable_text_and_html(ais, auto):
    assert "log Z    82.040 ± 0.015   95% interval" in repr(ais)
    assert "floor 275.71, an exact sum over" in repr(auto)
    for result in (ais, auto, lnz.exact("gwgm-hard")):
        assert result._repr_html_().count("<tr") == len(result._lines)
        assert f"{result.log_z:.2f}"[:5] in result._repr_html_()
    name = "<script>alert(1)</script>"
    html = lnz.exact(lnz.RBM([[1.0]], name=name))._repr_html_()
    assert name not in html and "&lt;script&gt;" in html


def test_figures_are_drawn(ais, auto):
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="NOT TESTED: no matplotlib")

    histogram, path = ais.plot()
    assert sum(patch.get_height() for patch in histogram.patches) == len(ais.log_weights)
    assert path.lines[0].get_ydata()[-1] == pytest.approx(ais.log_z)
    labels = [label.get_text() for label in auto.plot().get_yticklabels()]
    assert labels == ["trial, flips", "trial, phases", "result"]
    with pytest.raises(ValueError, match="an exact value has nothing to plot"):
        lnz.exact("gwgm-hard").plot()
    forest = lnz.compare("gwgm-easy", betas=16, chains=32).plot()
    assert len(forest.get_yticklabels()) == 6
    assert sum(len(bars.lines[0].get_xdata()) for bars in forest.containers) == 6
    assert sum(patch.get_height() for patch in auto.plot("weights").patches) > 0
    assert len(auto.plot("rounds").containers[0].lines[0].get_xdata()) == len(auto.rounds)
    _, ax = pyplot.subplots()
    assert ais.plot("path", ax=ax) is ax
    with pytest.raises(ValueError, match="kind is 'pie'"):
        ais.plot("pie")
    with pytest.raises(ValueError, match="needs the chains of plain AIS"):
        auto.plot("path")
    with pytest.raises(ValueError, match="needs the rounds of auto"):
        ais.plot("rounds")
    pyplot.close("all")


def test_comparisons_are_sequences(ais):
    comparison = lnz.compare("gwgm-hard")
    assert len(comparison) == 6
    assert comparison[1].log_z == ais.log_z
    assert np.array_equal(comparison[1].log_weights, ais.log_weights)
    assert [strategy.verdict for strategy in comparison].count("suspect") == 4
    assert repr(comparison).count("suspect") == 4
    assert comparison.exact == lnz.exact("gwgm-hard").log_z


def test_likelihoods_of_all_states_add_up_to_one(model):
    states = (np.arange(2**7)[:, None] >> np.arange(7)) & 1
    assert np.exp(model.score_samples(states)).sum() == pytest.approx(1.0, rel=1e-12)


def test_scores_carry_the_uncertainty_of_log_z(model):
    random = np.random.default_rng(5)
    data = random.integers(0, 2, (40, 7))
    log_z = lnz.estimate(model, chains=64, betas=64)
    score = lnz.score(model, data, log_z=log_z)
    mean = float(np.mean(-model.free_energy(data)))
    assert score.mean_log_likelihood == pytest.approx(mean - log_z.log_z, rel=1e-12)
    assert score.std_error == log_z.std_error
    low, high = log_z.interval
    assert score.interval == pytest.approx((mean - high, mean - low))
    spread = np.std(-model.free_energy(data), ddof=1) / math.sqrt(40)
    assert score.sampling_error == pytest.approx(spread)
    assert np.array_equal(score.log_likelihoods, -model.free_energy(data) - log_z.log_z)
    exact = lnz.score(model, data)
    assert (exact.std_error, exact.verdict) == (0.0, "exact")
    assert exact.mean_log_likelihood == pytest.approx(float(model.score_samples(data).mean()))
    given = lnz.score(model, data, log_z=30.0)
    assert (given.log_z, given.verdict, given.examples) == (30.0, "given", 40)
    assert (given.std_error, given.interval) == (0.0, (given.mean_log_likelihood,) * 2)
    assert given.to_dict()["std_error"] is None and given.to_dict()["verdict"] is None
    assert "given, taken as exact" in repr(given)
    assert f"{given.mean_log_likelihood:.6f}" in given._repr_html_()
    assert given.quantiles["min"] == given.log_likelihoods.min()
    assert given.quantiles["median"] == pytest.approx(float(np.median(given.log_likelihoods)))
    assert given.quantiles["max"] == given.log_likelihoods.max()
    again = pickle.loads(pickle.dumps(score))
    assert again == score and repr(again) == repr(score)
    assert lnz.score(model, data[:1]).sampling_error == math.inf
    with pytest.raises(ValueError, match="log_z is NaN; expected a finite number"):
        lnz.score(model, data, log_z=math.nan)
    with pytest.raises(TypeError, match="chains is for estimating log Z"):
        lnz.score(model, data, log_z=3.0, chains=9)


def test_a_probability_above_one_shows_that_log_z_is_too_low(model):
    states = (np.arange(2**7)[:, None] >> np.arange(7)) & 1
    exact = lnz.score(model, states)
    assert (exact.verdict, exact.warnings) == ("exact", ())
    # Below the largest term of Z, which all states have among them.
    too_low = exact.log_z + exact.quantiles["max"] - 0.5
    score = lnz.score(model, states, log_z=too_low)
    assert score.verdict == score.to_dict()["verdict"] == "suspect"
    assert score.warnings[0].kind == score.to_dict()["warnings"][0]["kind"] == "above_one"
    assert "log-likelihood 0.50, but no probability is above 1" in str(score.warnings[0])
    assert repr(score).splitlines()[0].startswith("verdict  log Z is suspect: an example")


def test_warnings_of_log_z_and_of_the_data_come_with_the_score(model):
    one_chain = lnz.estimate(model, chains=1)
    grey = lnz.score(model, np.full((3, 7), 0.25), log_z=one_chain)
    assert grey.verdict == "suspect" and grey.std_error == math.inf
    assert grey.warnings[:-1] == one_chain.warnings
    assert grey.warnings[-1].kind == "grey_values"
    assert grey.warnings[-1].advice == 'use binarize="bernoulli" or threshold'
    assert 'use binarize="bernoulli"' in repr(grey)


def test_a_log_z_of_another_model_is_refused(model, parameters, tmp_path):
    data = np.zeros((2, 7))
    other = lnz.exact(lnz.RBM(2 * parameters[0]))
    with pytest.raises(ValueError, match="another model of the same shape"):
        lnz.score(model, data, log_z=other)
    path = tmp_path / "z.json"
    with pytest.raises(FileNotFoundError, match="log_z cannot be read"):
        lnz.score(model, data, log_z=path)
    path.write_text("no")
    with pytest.raises(ValueError, match="log_z is not JSON"):
        lnz.score(model, data, log_z=path)
    path.write_text(json.dumps(lnz.score(model, data, log_z=1.0).to_dict()))
    with pytest.raises(ValueError, match="given by hand; give it as log_z"):
        lnz.score(model, data, log_z=path)


def test_data_in_files_scores_as_in_arrays(model, tmp_path):
    random = np.random.default_rng(6)
    data = random.integers(0, 256, (30, 7)).astype(np.uint8)
    np.save(tmp_path / "data.npy", data)
    for binarize in (None, "threshold", "bernoulli"):
        values = [lnz.score(model, source, binarize=binarize, seed=3).log_likelihoods
                  for source in (data, tmp_path / "data.npy")]  # fmt: skip
        assert np.array_equal(*values)


def test_models_survive_files(tmp_path, parameters):
    model = lnz.RBM(*parameters, constant=1.5, data_means=np.full(7, 0.25))
    for suffix in ("npz", "safetensors", "mat"):
        path = tmp_path / f"model.{suffix}"
        lnz.save(model, path)
        again = lnz.load(path)
        assert again == model
        assert np.array_equal(again.data_means, model.data_means)
        assert lnz.estimate(path).log_z == lnz.exact(model).log_z


def test_a_result_outside_its_interval_is_drawn():
    from lnz._plot import _arms

    # Below its floor, above everything, and with ends that are not known.
    intervals = [(2.0, 3.0), (-1.0, 0.5), (-math.inf, math.inf)]
    assert _arms([1.0, 1.0, 1.0], intervals) == [[0.0, 2.0, 0.0], [2.0, 0.0, 0.0]]
