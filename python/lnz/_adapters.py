"""The parameters of models that other packages have trained."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _lnz
from ._arrays import numbers

OF_SKLEARN = ("components_", "intercept_visible_", "intercept_hidden_")
OF_RBMS = ("weight_matrix", "vbias", "hbias")

Tensors = tuple[Any, Any, Any]


def of_sklearn(estimator: Any) -> Tensors:
    missing = [name for name in OF_SKLEARN if not hasattr(estimator, name)]
    if missing:
        raise TypeError(
            f"estimator is a {type(estimator).__name__} without {missing[0]}; "
            "expected a BernoulliRBM that has been fitted"
        )
    components, visible_bias, hidden_bias = (getattr(estimator, name) for name in OF_SKLEARN)
    return numbers("components_", components, 2).T, visible_bias, hidden_bias


def of_torch(module: Any, names: Mapping[str, str | None]) -> Tensors:
    state = module.state_dict() if hasattr(module, "state_dict") else module
    if not isinstance(state, Mapping):
        raise TypeError(
            f"module is a {type(module).__name__}; expected a torch module or a state dictionary"
        )
    # Plain attributes are common in hand-written modules, and in no state dictionary.
    plain = {
        key: value for key, value in getattr(module, "__dict__", {}).items() if _is_tensor(value)
    }
    tensors = {**plain, **state}
    parts = zip(names.items(), _lnz.tensor_names())
    weights, visible_bias, hidden_bias = (
        _find(tensors, part, wanted, known) for (part, wanted), known in parts
    )
    visible_bias = numbers("visible_bias", _flat(visible_bias), 1)
    hidden_bias = numbers("hidden_bias", _flat(hidden_bias), 1)
    matrix = numbers("weights", weights, 2)
    shape = (len(visible_bias), len(hidden_bias))
    if matrix.shape != shape and matrix.shape == shape[::-1]:
        matrix = matrix.T
    return matrix, visible_bias, hidden_bias


def _find(tensors: Mapping[str, Any], part: str, wanted: str | None, known: list[str]) -> Any:
    if wanted is not None:
        if wanted not in tensors:
            raise ValueError(f"{part}={wanted!r} is not among the tensors {sorted(tensors)}")
        return tensors[wanted]
    fitting = [key for key in tensors if key in known or key.rpartition(".")[2] in known]
    if len(fitting) == 1:
        return tensors[fitting[0]]
    if not fitting:
        problem = f"none of the tensors {sorted(tensors)} is called like one, such as {known}"
    else:
        problem = f"{' and '.join(map(repr, fitting))} could both be it"
    raise ValueError(f'{part} was not found: {problem}; give its name, as {part}="..."')


def of_rbms(model: Any, update: int | None) -> tuple[Tensors, str]:
    if isinstance(model, (str, os.PathLike)):
        return _of_rbms_file(os.fspath(model), update)
    if update is not None:
        raise ValueError("update is for files; a BBRBM has the parameters of one update only")
    missing = [name for name in OF_RBMS if not hasattr(model, name)]
    if missing:
        raise TypeError(
            f"model is a {type(model).__name__} without {missing[0]}; expected a BBRBM or a file"
        )
    weights, visible_bias, hidden_bias = (getattr(model, name) for name in OF_RBMS)
    return (weights, visible_bias, hidden_bias), type_name(model)


def _of_rbms_file(path: str, update: int | None) -> tuple[Tensors, str]:
    try:
        import h5py  # type: ignore[import-untyped]
    except ImportError:
        raise ImportError("reading the HDF5 files of rbms needs h5py; install it") from None
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such file")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise ValueError(f"{path}: is not a HDF5 file ({error})") from None
    with file:
        saved = sorted(int(key[7:]) for key in file if key.startswith("update_"))
        if not saved:
            raise ValueError(f"{path}: has no group update_N; expected a file that rbms has saved")
        if "model_type" in file and file["model_type"][()] != b"BBRBM":
            kind = file["model_type"][()].decode()
            raise ValueError(f"{path}: holds a {kind}; expected a BBRBM, with units 0 and 1")
        chosen = saved[-1] if update is None else update
        if chosen not in saved:
            raise ValueError(f"update is {update}, but {path} has {saved}")
        group = file[f"update_{chosen}"]
        group = group["params"] if "params" in group else group
        missing = [name for name in OF_RBMS if name not in group]
        if missing:
            raise ValueError(f"{path}: update_{chosen} has no {missing[0]}")
        weights, visible_bias, hidden_bias = (group[name][()] for name in OF_RBMS)
    return (weights, visible_bias, hidden_bias), f"{path}, update {chosen}"


def type_name(value: Any) -> str:
    return type(value).__name__


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "detach") and hasattr(value, "shape")


def _flat(bias: Any) -> Any:
    """(n), (1, n) and (n, 1) are all common."""
    return bias.reshape(-1) if getattr(bias, "ndim", 1) == 2 and 1 in bias.shape else bias
