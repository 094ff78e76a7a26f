"""Results as pages: the same as those of the command line, and safe whatever names say."""

import html
import json
import re

import numpy as np
import pytest

import lnz

HOSTILE = "</title><script>alert(1)</script>"


def inside(page):
    """The result for programs on a page."""
    found = re.search(r'<pre id="result">(.*?)</pre>', page, re.DOTALL)
    return json.loads(html.unescape(found.group(1)))


@pytest.fixture(scope="module")
def model():
    weights = np.random.default_rng(0).normal(size=(6, 4))
    return lnz.RBM(weights, name=HOSTILE)


@pytest.fixture(scope="module")
def data():
    return (np.random.default_rng(1).random((20, 6)) < 0.5).astype(float)


def call_on(page):
    """The call that repeats the run, without the marks of its words."""
    call = re.search(r'<pre class="command"><code>(.*?)</code>', page).group(1)
    return html.unescape(re.sub(r"</?span>", "", call))


def test_every_result_has_a_page_that_holds_it(model, data, tmp_path):
    training = lnz.train(data, 3, epochs=3, track="all")
    for result in (
        lnz.estimate(model, no_exact=True, rounds=2),
        lnz.estimate(model, method="ais", betas=16, chains=32),
        lnz.exact(model),
        lnz.compare(model, betas=8, chains=16),
        lnz.score(model, data),
        lnz.score(model, data, log_z=3.0),
        training,
    ):
        path = tmp_path / "run.html"
        result.report(path)
        page = path.read_text(encoding="utf-8")
        assert inside(page) == result.to_dict()
        assert page.count("<script") == 1
        assert HOSTILE not in page
        assert call_on(page).startswith("lnz.")


def test_the_call_on_a_page_gives_the_same_result(tmp_path):
    result = lnz.estimate("gwgm-hard", no_exact=True)
    result.report(tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    call = call_on(page)
    assert "rounds=" in call
    assert eval(call, {"lnz": lnz}).log_z == result.log_z


def test_a_page_that_cannot_be_written_is_an_error(model, tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        lnz.exact(model).report(tmp_path / "nowhere" / "run.html")


def test_rounds_tell_the_history_of_a_result(tmp_path):
    result = lnz.estimate("gwgm-hard", no_exact=True, rounds=3)
    assert result.rounds.shape == (3, 4)
    assert result.rounds[-1, 1] == pytest.approx(result.log_z)
    assert (result.rounds[:, 2] <= result.rounds[:, 1]).all()
    assert lnz.exact("gwgm-hard").rounds is None
    seen = []
    lnz.estimate("gwgm-hard", no_exact=True, rounds=2, progress=seen.append)
    told = [news for news in seen if news.interval is not None]
    assert all(news.interval[0] <= news.log_z <= news.interval[1] for news in told)
