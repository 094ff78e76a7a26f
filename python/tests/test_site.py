"""The tutorials of the documentation site: every block runs, and the references can be generated."""

from __future__ import annotations

import importlib.util
import os
import pathlib

import pytest

import lnz

SITE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "site"
NEEDS = {"pytorch": "torch", "scikit-learn": "sklearn"}


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("build", SITE / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tool():
    path = os.environ.get("LNZ_TOOL")
    if path is None:
        pytest.skip("LNZ_TOOL is not set")
    return pathlib.Path(path)


@pytest.mark.parametrize("page", sorted(SITE.rglob("*.md")), ids=lambda path: path.stem)
def test_every_block_of_a_page_runs(page, build, tool, tmp_path):
    if page.stem in NEEDS:
        pytest.importorskip(NEEDS[page.stem], reason=f"NOT TESTED: {page.stem}")
    text = page.read_text(encoding="utf-8")
    shown = build.with_outputs(text, build.Workshop(tool, tmp_path / "run"))
    assert len(shown) >= len(text)
    if page.parent.name == "tutorials":
        assert len(shown) > len(text)


def test_the_references_name_everything(build, tool):
    commands = build.commands(tool)
    for name in ("estimate", "score", "train", "compare", "generate gwgm", "bench suite"):
        assert f"# lnz {name}\n" in commands
    fields = build.json_reference(lnz.schema())
    assert "| `interval` |" in fields and "## estimate" in fields
    python = build.python_reference(lnz)
    for name in lnz.__all__:
        assert name.startswith("__") or f"## lnz.{name}\n" in python


def test_links_that_lead_nowhere_are_found(build, tmp_path):
    (tmp_path / "a.html").write_text('<a id="x" href="b.html#y">b</a><a href="#x">x</a>')
    (tmp_path / "b.html").write_text('<a href="a.html#x">a</a><a href="c.html">c</a>')
    assert build.dead_links(tmp_path) == ["a.html: b.html#y (no such anchor)", "b.html: c.html"]
    links = "[m](docs/method.md#a), [p](crates/lnz/src/x.rs), [w](https://example.org)"
    assert build.repository_links(links) == "[m](method.md#a), p, [w](https://example.org)"
