"""Models that other packages have trained go in as they are."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import brute_force

import lnz


def fitted(n_components, width=8):
    network = pytest.importorskip("sklearn.neural_network")
    random = np.random.default_rng(0)
    data = (random.random((200, width)) < np.linspace(0.1, 0.9, width)).astype(float)
    machine = network.BernoulliRBM(n_components, learning_rate=0.1, n_iter=5, random_state=0)
    return machine.fit(data), data


@pytest.mark.parametrize("hidden", [3, 8])
def test_a_bernoulli_rbm_of_scikit_learn(hidden):
    machine, data = fitted(hidden)
    model = lnz.RBM.from_sklearn(machine)
    assert model.shape == (8, hidden)
    assert model.free_energy(data) == pytest.approx(machine._free_energy(data), rel=1e-12)
    expected = brute_force(
        machine.components_.T, machine.intercept_visible_, machine.intercept_hidden_
    )
    assert lnz.estimate(machine).log_z == pytest.approx(expected, rel=1e-12)
    assert model.score_samples(data).shape == machine.score_samples(data).shape


def test_an_unfitted_estimator_is_refused():
    network = pytest.importorskip("sklearn.neural_network")
    with pytest.raises(
        TypeError, match="components_; expected a BernoulliRBM that has been fitted"
    ):
        lnz.RBM.from_sklearn(network.BernoulliRBM())


def torch_or_skip():
    return pytest.importorskip("torch", reason="NOT TESTED: torch is not installed")


@pytest.mark.parametrize("hidden", [3, 7])
def test_a_torch_module(hidden):
    torch = torch_or_skip()

    class Machine(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.W = torch.nn.Parameter(torch.randn(7, hidden))
            self.v_bias = torch.nn.Parameter(torch.randn(7))
            self.h_bias = torch.nn.Parameter(torch.randn(hidden))

        def free_energy(self, v):
            inputs = v @ self.W + self.h_bias
            return -(v @ self.v_bias) - torch.nn.functional.softplus(inputs).sum(1)

    torch.manual_seed(0)
    machine = Machine().double()
    rows = torch.bernoulli(torch.full((20, 7), 0.5, dtype=torch.float64))
    outer = torch.nn.ModuleDict({"rbm": machine})
    for source in (machine, machine.state_dict(), outer):
        model = lnz.RBM.from_torch(source)
        expected = machine.free_energy(rows).detach().numpy()
        assert model.free_energy(rows) == pytest.approx(expected, rel=1e-12)
    assert lnz.estimate(machine).verdict == "exact"
    half = lnz.RBM.from_torch(machine.to(torch.bfloat16))
    assert np.array_equal(half.weights, machine.W.detach().double().numpy())


def test_torch_layers_with_other_names_and_layouts():
    torch = torch_or_skip()

    class Linear(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up = torch.nn.Linear(6, 4)
            self.first = torch.nn.Parameter(torch.randn(1, 6))

    machine = Linear()
    names = {"weights": "up.weight", "visible_bias": "first", "hidden_bias": "up.bias"}
    model = lnz.RBM.from_torch(machine, **names)
    assert model.shape == (6, 4)
    assert np.array_equal(model.weights, machine.up.weight.detach().numpy().T)
    with pytest.raises(ValueError, match="visible_bias was not found"):
        lnz.RBM.from_torch(machine)
    with pytest.raises(ValueError, match="weights='down' is not among the tensors"):
        lnz.RBM.from_torch(machine, weights="down")
    # Tensors as parameters, strided and with a gradient.
    weights = torch.randn(8, 12, requires_grad=True)[::2, ::3]
    direct = lnz.RBM(weights, torch.zeros(4), torch.zeros(4))
    assert np.array_equal(direct.weights, weights.detach().double().numpy())
    turned = lnz.RBM(weights.T, torch.zeros(4), torch.zeros(4))
    assert np.array_equal(turned.weights, direct.weights.T)


def test_things_that_are_no_module_are_refused():
    with pytest.raises(TypeError, match="expected a torch module or a state dictionary"):
        lnz.RBM.from_torch(3)
    with pytest.raises(ValueError, match="could both be it"):
        lnz.RBM.from_torch({"W": 0, "weights": 0, "b": 0, "c": 0})


class BBRBM:
    """What the machine of rbms has, without rbms."""

    def __init__(self, weight_matrix, vbias, hbias):
        self.weight_matrix, self.vbias, self.hbias = weight_matrix, vbias, hbias


def test_a_machine_of_rbms(parameters):
    model = lnz.RBM(*parameters)
    assert lnz.RBM.from_rbms(BBRBM(*parameters)) == model
    assert lnz.estimate(BBRBM(*parameters)).log_z == lnz.exact(model).log_z
    with pytest.raises(TypeError, match="without weight_matrix"):
        lnz.RBM.from_rbms(3)


def test_the_real_rbms_package(parameters):
    reason = "NOT TESTED: rbms is not installed"
    bernoulli = pytest.importorskip("rbms.bernoulli_bernoulli.classes", reason=reason)
    torch = torch_or_skip()
    tensors = [torch.from_numpy(values) for values in parameters]
    machine = bernoulli.BBRBM(*tensors)
    model = lnz.RBM.from_rbms(machine)
    rows = torch.bernoulli(torch.full((20, 7), 0.5, dtype=torch.float64))
    expected = machine.compute_energy_visibles(rows).numpy()
    assert model.free_energy(rows) == pytest.approx(expected, rel=1e-12)


def test_hdf5_files_of_rbms(parameters, tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "training.h5"
    names = ("weight_matrix", "vbias", "hbias")
    with h5py.File(path, "w") as file:
        file["model_type"] = "BBRBM"
        for update, factor in ((9, 0.5), (100, 1.0)):
            group = file.create_group(f"update_{update}").create_group("params")
            for name, values in zip(names, parameters):
                group[name] = factor * values
    assert lnz.RBM.from_rbms(path) == lnz.RBM(*parameters)
    first = lnz.RBM.from_rbms(path, update=9)
    assert np.array_equal(first.weights, 0.5 * parameters[0])
    assert first.name.endswith("training.h5, update 9")
    with pytest.raises(ValueError, match=r"update is 3, but .* has \[9, 100\]"):
        lnz.RBM.from_rbms(path, update=3)
    with pytest.raises(FileNotFoundError, match="absent.h5"):
        lnz.RBM.from_rbms(tmp_path / "absent.h5")
    (tmp_path / "text.h5").write_text("text")
    with pytest.raises(ValueError, match="is not a HDF5 file"):
        lnz.RBM.from_rbms(tmp_path / "text.h5")
    with h5py.File(tmp_path / "potts.h5", "w") as file:
        file["model_type"] = "PBRBM"
        file.create_group("update_1")
    with pytest.raises(ValueError, match="holds a PBRBM"):
        lnz.RBM.from_rbms(tmp_path / "potts.h5")
