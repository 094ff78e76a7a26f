"""Examples in the documentation run and say what they say; types hold; the notebook runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import os
import pathlib
import pkgutil
import re
import subprocess
import sys

import pytest

import lnz

HERE = pathlib.Path(__file__).resolve().parent
NOTEBOOK = HERE.parent / "notebooks" / "quickstart.ipynb"
READMES = [HERE.parent / "README.md", HERE.parent.parent / "README.md"]
MODULES = ["lnz", *(f"lnz.{entry.name}" for entry in pkgutil.iter_modules(lnz.__path__))]


@pytest.mark.parametrize("name", [name for name in MODULES if name != "lnz._lnz"])
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    found = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


def test_everything_public_is_documented_and_functions_have_examples():
    for name in lnz.__all__:
        thing = getattr(lnz, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(thing), name
        if inspect.isfunction(thing) or thing in (lnz.RBM, lnz.LogZTracker):
            assert ">>>" in inspect.getdoc(thing), name
        for method, value in inspect.getmembers(thing, inspect.isfunction):
            if not method.startswith("_") and thing in (
                lnz.RBM,
                lnz.LogZTracker,
                lnz.Estimate,
                lnz.Comparison,
            ):
                assert inspect.getdoc(value), f"{name}.{method}"


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.parent.name)
def test_python_in_the_readme_runs(readme, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="NOT TESTED: the examples draw with matplotlib")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", readme.read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, str(readme), "exec"), {})


def test_types_hold():
    api = pytest.importorskip("mypy.api")
    out, err, code = api.run(["--strict", f"--cache-dir={os.devnull}", "-p", "lnz"])
    assert code == 0, out + err


def test_the_stubs_are_those_of_the_compiled_module():
    pytest.importorskip("mypy.stubtest")
    command = [sys.executable, "-m", "mypy.stubtest", "lnz._lnz"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


CHECKS = """
assert truth.verdict == "exact"
# The usual start converges to a wrong value without a sign, and is found out when checked.
assert usual.verdict == "unchecked" and usual.std_error < 0.05
assert truth.log_z - usual.log_z > 30
assert checked.verdict == "suspect" and checked.log_z == usual.log_z
# The repair covers the truth, by a better start and by default.
[best] = [s for s in comparison.strategies if s.start == "gibbs ps" and not s.transpose]
assert best.interval[0] <= truth.log_z <= best.interval[1]
low, high = repaired.interval
assert repaired.verdict == "consistent" and low <= truth.log_z <= high
# The likelihood rises, and beats independent pixels on data that was not trained on.
history = [record.validation_log_likelihood for record in tracker.history]
assert history[-1] > history[0] + 1
assert by_lnz.history[-1].validation_log_likelihood > history[0] + 1
assert history[-1] > lnz.score(independent, validation).mean_log_likelihood + 1
"""


def test_the_notebook_runs_and_shows_what_it_says(tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    # The kernel is this interpreter, whatever kernels are registered elsewhere.
    kernel = tmp_path / "kernels" / "this"
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "this", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    # Figures are shown in the notebook, whatever draws them in other tests.
    monkeypatch.delenv("MPLBACKEND", raising=False)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(CHECKS))
    resources = {"metadata": {"path": str(tmp_path)}}
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="this", resources=resources)
    client.execute()
    shown = [
        output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
    ]
    figures = [output for output in shown if "image/png" in output.get("data", {})]
    assert len(figures) == 4
    complaints = [output["text"] for output in shown if output.get("name") == "stderr"]
    assert not complaints, complaints
