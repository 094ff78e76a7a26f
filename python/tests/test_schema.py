"""What results say of themselves: their model, their fields, and their limits of time."""

import hashlib
import json
import math
import struct

import numpy as np
import pytest

import lnz


def small(scale: float = 1.0) -> lnz.RBM:
    weights = scale * (np.arange(24.0).reshape(6, 4) % 5 - 1.8)
    return lnz.RBM(weights, np.linspace(-0.7, 0.8, 6), np.linspace(0.2, -0.1, 4))


def test_every_dictionary_is_what_the_schema_says(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    schema = lnz.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    rows = np.eye(6)
    results = [
        lnz.estimate(small()),
        lnz.exact(small()),
        lnz.estimate(small(), no_exact=True, rounds=1),
        lnz.estimate(small(), betas=8, chains=1),
        lnz.estimate(small(), betas=8, no_check=True, max_seconds=100),
        lnz.score(small(), rows),
        lnz.score(small(), rows, log_z=30.0),
        lnz.compare(small(), betas=8, chains=16),
        lnz.train(rows, 2, epochs=2, track="0-2", out=tmp_path / "run"),
    ]
    for result in results:
        validator.validate(result.to_dict())
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**results[0].to_dict(), "surprise": 1})


def test_the_hash_is_that_of_the_parameters(tmp_path):
    model = small()
    numbers = [*model.weights.ravel(), *model.visible_bias, *model.hidden_bias, model.constant]
    content = b"lnz-rbm-1\n" + struct.pack("<QQ35d", 6, 4, *numbers)
    assert model.sha256 == hashlib.sha256(content).hexdigest()
    assert lnz.estimate(model).to_dict()["model"]["sha256"] == model.sha256
    for name in ("m.npz", "m.safetensors", "m.mat"):
        lnz.save(model, tmp_path / name)
        assert lnz.load(tmp_path / name).sha256 == model.sha256
    assert small(2.0).sha256 != model.sha256


def test_a_result_of_another_model_is_refused(tmp_path):
    model, rows = small(), np.eye(6)
    other = lnz.RBM(model.weights[::-1], model.visible_bias[::-1], model.hidden_bias)
    found = lnz.estimate(model)
    assert lnz.score(model, rows, log_z=found).log_z == found.log_z
    path = tmp_path / "z.json"
    path.write_text(json.dumps(found.to_dict()))
    for log_z in (found, path):
        with pytest.raises(ValueError, match="is for another model of the same shape"):
            lnz.score(other, rows, log_z=log_z)


def test_infinite_ends_are_infinite_and_written_as_words():
    one = lnz.estimate(small(), betas=8, chains=1)
    assert math.isinf(one.std_error) and math.isinf(one.interval[1])
    assert one.to_dict()["std_error"] == "Infinity"


def test_runs_whose_tests_were_off_are_unchecked():
    assert lnz.estimate("gwgm-easy", betas=64, no_check=True).verdict == "unchecked"


def test_time_that_is_too_short_is_a_timeout():
    model = lnz.RBM(np.full((300, 300), 0.01), np.zeros(300), np.zeros(300))
    with pytest.raises(TimeoutError, match="max_seconds=0.2 is not enough"):
        lnz.estimate(model, start="uniform", no_check=True, betas=1000000, max_seconds=0.2)
    with pytest.raises(ValueError, match="max_seconds is -1"):
        lnz.exact(model, max_seconds=-1)


def test_training_ends_in_time():
    rows = (np.add.outer(np.arange(500), np.arange(32)) % 2 == 0).astype(float)
    trained = lnz.train(rows, 8, epochs=16_000_000, max_seconds=1)
    assert trained.to_dict()["out_of_time"] and len(trained.history) > 0


def test_a_solution_file_has_the_logarithm_to_the_base_of_ten(tmp_path):
    found = lnz.exact(small())
    found.save_pr(tmp_path / "m.uai.PR")
    word, number = (tmp_path / "m.uai.PR").read_text().split()
    assert word == "PR" and abs(float(number) - found.log_z / math.log(10)) < 1e-11
