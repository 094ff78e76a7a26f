"""The model, and where models come from."""

from __future__ import annotations

import os
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _adapters, _lnz
from ._arrays import numbers, rows
from ._choices import Units
from ._options import count, number, thread_count

PathLike = Union[str, "os.PathLike[str]"]


class RBM:
    """A Restricted Boltzmann Machine with units in {0, 1}.

    Its energy is ``E(x, h) = -constant - b.x - c.h - x.W.h``. It never changes: arrays are copied in,
    once, and `weights` and the biases are read-only views of that copy.

    Parameters
    ----------
    weights
        W, of the shape (visible, hidden).
    visible_bias, hidden_bias
        b and c; zero if left out.
    units
        ``"spin"`` if the parameters are those of a model with units -1 and +1. It is converted
        exactly: the energies, and with them Z, stay the same.
    constant
        A part of -E that does not depend on the units.
    data_means
        Means of the visible units over the training data, for ``start="data"``.
    name
        What reports call the model.

    Arrays may be of numpy, torch or lists, of any layout and of any real type.

    >>> import lnz
    >>> model = lnz.RBM([[0.5, -1.0]], [0.2], [0.0, 0.3])
    >>> model.shape
    (1, 2)
    >>> round(lnz.exact(model).log_z, 6)
    2.255641
    """

    __slots__ = ("_log_z", "_model")
    _model: _lnz.Model
    _log_z: float | None

    def __init__(
        self,
        weights: Any,
        visible_bias: Any = None,
        hidden_bias: Any = None,
        *,
        units: Units = "binary",
        constant: float = 0.0,
        data_means: Any = None,
        name: str = "RBM",
    ) -> None:
        w = numbers("weights", weights, 2)
        b = np.zeros(w.shape[0]) if visible_bias is None else visible_bias
        c = np.zeros(w.shape[1]) if hidden_bias is None else hidden_bias
        self._log_z = None
        self._model = _lnz.Model(
            w,
            numbers("visible_bias", b, 1),
            numbers("hidden_bias", c, 1),
            spin=bool(_is_spin(units)),
            constant=number("constant", constant) or 0.0,
            data_means=None if data_means is None else numbers("data_means", data_means, 1),
            exact_log_z=None,
            metadata={},
            name=str(name),
        )

    @classmethod
    def _of(cls, model: _lnz.Model) -> RBM:
        rbm = cls.__new__(cls)
        rbm._model = model
        rbm._log_z = None
        return rbm

    @classmethod
    def from_sklearn(cls, estimator: Any, *, name: str = "BernoulliRBM") -> RBM:
        """The model of a fitted ``sklearn.neural_network.BernoulliRBM``.

        scikit-learn stores the weights as (hidden, visible); they are turned here.
        """
        weights, visible_bias, hidden_bias = _adapters.of_sklearn(estimator)
        return cls(weights, visible_bias, hidden_bias, name=name)

    @classmethod
    def from_torch(
        cls,
        module: Any,
        *,
        weights: str | None = None,
        visible_bias: str | None = None,
        hidden_bias: str | None = None,
        units: Units = "binary",
        name: str | None = None,
    ) -> RBM:
        """The model of a torch module, or of a state dictionary.

        Its tensors are found by the names that model files use (``W``, ``vbias``, ``h_bias``, ...),
        with or without a prefix such as ``rbm.``; the lengths of the biases decide which way round
        the weights are, and a square matrix is taken as (visible, hidden). The keywords name other
        tensors.
        """
        names = {"weights": weights, "visible_bias": visible_bias, "hidden_bias": hidden_bias}
        tensors = _adapters.of_torch(module, names)
        return cls(*tensors, units=units, name=name or _adapters.type_name(module))

    @classmethod
    def from_rbms(cls, model: Any, *, update: int | None = None) -> RBM:
        """The model of the `rbms` package: a ``BBRBM``, or a HDF5 file of its training.

        Of a file the last saved update is taken, or the one given; reading it needs h5py.
        """
        tensors, name = _adapters.of_rbms(model, count("update", update, least=0))
        return cls(*tensors, name=name)

    @property
    def weights(self) -> NDArray[np.float64]:
        """W, of the shape (visible, hidden), read-only."""
        return self._model.weights

    @property
    def visible_bias(self) -> NDArray[np.float64]:
        """b, read-only."""
        return self._model.visible_bias

    @property
    def hidden_bias(self) -> NDArray[np.float64]:
        """c, read-only."""
        return self._model.hidden_bias

    @property
    def data_means(self) -> NDArray[np.float64] | None:
        """Means of the visible units over the training data, if known."""
        return self._model.data_means

    @property
    def shape(self) -> tuple[int, int]:
        """Visible and hidden units."""
        return self._model.shape

    @property
    def sha256(self) -> str:
        """The hash of the parameters: the same for the same model in any file, and in every result.

        It is that of the bytes ``lnz-rbm-1`` and a line feed, the numbers of visible and hidden units as
        64-bit integers, and as float64 the weights (visible unit by visible unit), the visible bias, the
        hidden bias and the constant; all little-endian, units 0 and 1, negative zero as zero.
        """
        return self._model.sha256

    @property
    def constant(self) -> float:
        """The part of -E that does not depend on the units."""
        return self._model.constant

    @property
    def exact_log_z(self) -> float | None:
        """The exact log Z, where a file or a generator has said it."""
        return self._model.exact_log_z

    @property
    def metadata(self) -> dict[str, str]:
        """Words that came with the model."""
        return self._model.metadata

    @property
    def notes(self) -> list[str]:
        """What the file of the model left open, and how it was understood."""
        return self._model.notes

    @property
    def name(self) -> str:
        """What reports call the model."""
        return self._model.name

    @property
    def T(self) -> RBM:
        """Visible and hidden layer exchanged: the same Z."""
        return RBM._of(self._model.transposed())

    def free_energy(self, X: Any, *, threads: int | None = None) -> NDArray[np.float64]:
        """-F(x) of each row of X, the free energy: -log of the unnormalised probability.

        >>> import lnz
        >>> lnz.RBM([[0.5]], [0.1], [0.2]).free_energy([[0], [1]]).round(6).tolist()
        [-0.798139, -1.203186]
        """
        return -_log_marginals(self._model, X, threads)

    def score_samples(self, X: Any, *, log_z: float | None = None) -> NDArray[np.float64]:
        """The log-likelihood of each row of X, like scikit-learn's density estimators.

        Without `log_z`, the exact value that came with the model is taken, or else that of
        ``lnz.estimate(model)``, which is computed once and kept. See :func:`lnz.score` for the
        uncertainty of log Z.

        >>> import lnz, numpy as np
        >>> model = lnz.RBM([[0.5], [0.0]], [0.1, -0.4], [0.2])
        >>> all_states = [[0, 0], [0, 1], [1, 0], [1, 1]]
        >>> round(float(np.exp(model.score_samples(all_states)).sum()), 12)
        1.0
        """
        values = _log_marginals(self._model, X)
        return values - self._best_log_z(number("log_z", log_z))

    def _best_log_z(self, given: float | None) -> float:
        if given is not None:
            return given
        if self._log_z is None:
            from ._estimates import estimate

            known = self.exact_log_z
            self._log_z = estimate(self).log_z if known is None else known
        return self._log_z

    def __repr__(self) -> str:
        return f"<RBM {self._model.summary}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RBM):
            return NotImplemented
        return self.constant == other.constant and all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(self._parameters(), other._parameters())
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        extras = (self.constant, self.data_means, self.exact_log_z, self.metadata, self.name)
        return _restore, (*self._parameters(), *extras)

    def _parameters(self) -> tuple[NDArray[np.float64], ...]:
        return self.weights, self.visible_bias, self.hidden_bias


def _restore(w: Any, b: Any, c: Any, constant: float, *extras: Any) -> RBM:
    data_means, exact_log_z, metadata, name = extras
    model = _lnz.Model(
        w, b, c, spin=False, constant=constant, data_means=data_means,
        exact_log_z=exact_log_z, metadata=metadata, name=name,
    )  # fmt: skip
    return RBM._of(model)


def as_rbm(model: Any) -> RBM:
    """Any of the things that stand for a model."""
    if isinstance(model, RBM):
        return model
    if isinstance(model, (str, os.PathLike)):
        return load(model)
    if isinstance(model, (tuple, list)) and len(model) == 3:
        return RBM(*model)
    if all(hasattr(model, name) for name in _adapters.OF_SKLEARN):
        return RBM.from_sklearn(model)
    if all(hasattr(model, name) for name in _adapters.OF_RBMS):
        return RBM.from_rbms(model)
    if hasattr(model, "state_dict") or isinstance(model, dict):
        return RBM.from_torch(model)
    raise TypeError(
        f"model is a {type(model).__name__}; expected an RBM, a file or built-in name, a tuple "
        "(weights, visible_bias, hidden_bias), a BernoulliRBM, a torch module or a state dictionary"
    )


def load(
    path: PathLike,
    *,
    units: Units | None = None,
    weights: PathLike | None = None,
    visible_bias: PathLike | None = None,
    hidden_bias: PathLike | None = None,
    layout: str | None = None,
    update: int | None = None,
) -> RBM:
    """A model from a file, or a built-in model by its name.

    Files are told by their content: .npz, .npy (also three side by side), .safetensors, .mat, PyTorch,
    pickles and joblib (of which no code is run), HDF5 (`rbms`, RestrictedBoltzmannMachines.jl, MATLAB
    7.3), .uai, msgpack of flax and CSV. What the file leaves open is in :attr:`RBM.notes`.

    Parameters
    ----------
    units
        ``"binary"`` or ``"spin"``; by default the file's own word counts, and binary when it has none.
    weights, visible_bias, hidden_bias
        The name of a tensor in the file, or a file of its own; ``"none"`` for a bias of zero.
    layout
        ``"vh"`` if the weights have one row for each visible unit, ``"hv"`` for each hidden one; needed
        only where the lengths of the biases do not tell.
    update
        Which update of a training run of `rbms`; by default the last.

    >>> import lnz
    >>> lnz.load("gwgm-hard")
    <RBM gwgm-hard: 20 visible x 180 hidden, one component, weight rms 12.9>
    """
    if layout not in (None, "vh", "hv"):
        raise ValueError(f"layout is {layout!r}; expected 'vh' or 'hv'")
    return RBM._of(
        _lnz.load(
            os.fspath(path),
            spin=_is_spin(units),
            weights=None if weights is None else os.fspath(weights),
            visible_bias=None if visible_bias is None else os.fspath(visible_bias),
            hidden_bias=None if hidden_bias is None else os.fspath(hidden_bias),
            layout=layout,
            update=count("update", update, least=0),
        )
    )


def save(model: Any, path: PathLike) -> None:
    """Writes a model, whole or not at all; the extension chooses .npz, .safetensors, .mat or .uai.

    >>> import lnz, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
    >>> lnz.save(lnz.RBM([[0.5, -1.0]], [0.2], [0.0, 0.3]), path)
    >>> lnz.load(path).shape
    (1, 2)
    """
    as_rbm(model)._model.save(os.fspath(path))


def data_argument(name: str, data: Any) -> Any:
    """A file, or the name of a data set, stays as it is; anything else becomes a matrix."""
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data)
    return rows(name, data)


def _log_marginals(model: _lnz.Model, data: Any, threads: int | None = None) -> NDArray[np.float64]:
    return model.log_marginals(data_argument("X", data), threads=thread_count(threads))


def _is_spin(units: Any) -> bool | None:
    if units not in (None, "binary", "spin"):
        raise ValueError(f"units is {units!r}; expected 'binary' or 'spin'")
    return None if units is None else units == "spin"
