"""Makes the small model files beside it: the same model, as other programs store it.

Needs numpy, scipy, h5py, scikit-learn, joblib and msgpack. Files of torch are written by hand, with
stand-ins for the classes that torch would pickle, so that torch itself is not needed.
"""

import collections
import io
import itertools
import math
import os
import pickle
import struct
import sys
import types
import zipfile

import h5py
import joblib
import msgpack
import numpy as np
import scipy.io
from sklearn.neural_network import BernoulliRBM

os.chdir(os.path.dirname(os.path.abspath(__file__)))

V, H = 5, 3
W = np.array([[(3 * i + j) / 7 - 1 for j in range(H)] for i in range(V)])
B = np.linspace(-1, 1, V)
C = np.linspace(0.5, 2, H)


# --- torch -------------------------------------------------------------------------------------
def module(name):
    sys.modules[name] = types.ModuleType(name)
    return sys.modules[name]


torch, utils = module("torch"), module("torch._utils")


class DoubleStorage:
    pass


DoubleStorage.__module__, DoubleStorage.__qualname__ = "torch", "DoubleStorage"
torch.DoubleStorage = DoubleStorage


def _rebuild_tensor_v2(*_):
    pass


_rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
utils._rebuild_tensor_v2 = _rebuild_tensor_v2


class Storage:
    def __init__(self, key, values):
        self.key, self.values = str(key), np.ascontiguousarray(values).ravel()


class Tensor:
    count = 0

    def __init__(self, values, transposed=False):
        values = np.asarray(values)
        # A transposed tensor shares the storage of the original, with its strides exchanged.
        self.storage = Storage(Tensor.count, values.T if transposed else values)
        Tensor.count += 1
        self.shape = values.shape
        strides = [s // 8 for s in np.ascontiguousarray(values).strides]
        self.strides = (1, values.shape[0]) if transposed else tuple(strides)

    def __reduce__(self):
        hooks = collections.OrderedDict()
        return _rebuild_tensor_v2, (self.storage, 0, self.shape, self.strides, False, hooks)


class Pickler(pickle.Pickler):
    def __init__(self, file):
        super().__init__(file, protocol=2)
        self.storages = {}

    def persistent_id(self, value):
        if isinstance(value, Storage):
            self.storages[value.key] = value
            return "storage", DoubleStorage, value.key, "cpu", len(value.values)
        return None


def dump(value):
    file = io.BytesIO()
    pickler = Pickler(file)
    pickler.dump(value)
    return file.getvalue(), pickler.storages


def torch_zip(name, value):
    program, storages = dump(value)
    with zipfile.ZipFile(name, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", program)
        archive.writestr("archive/byteorder", "little")
        for key, storage in storages.items():
            archive.writestr(f"archive/data/{key}", storage.values.tobytes())
        archive.writestr("archive/version", "3\n")


def torch_legacy(name, value):
    program, storages = dump(value)
    with open(name, "wb") as file:
        for header in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}):
            pickle.dump(header, file, protocol=2)
        file.write(program)
        pickle.dump(sorted(storages), file, protocol=2)
        for key in sorted(storages):
            file.write(struct.pack("<q", len(storages[key].values)))
            file.write(storages[key].values.tobytes())


state = collections.OrderedDict(
    [("rbm.W", Tensor(W, transposed=True)), ("rbm.v_bias", Tensor(B)), ("rbm.h_bias", Tensor(C))]
)
state["rbm.W_momentum"] = Tensor(np.zeros((V, H)))
torch_zip("checkpoint.pt", {"epoch": 3, "state_dict": state, "optimizer": {"W": Tensor(W)}})
torch_legacy("legacy.pt", {"fc.weight": Tensor(W.T.copy()), "v": 1, "fc.bias": Tensor(C), "v_bias": Tensor(B)})

# --- pickles -----------------------------------------------------------------------------------
mine = module("my_rbm")


class RBM:
    pass


RBM.__module__, RBM.__qualname__ = "my_rbm", "RBM"
mine.RBM = RBM
model = RBM()
model.n_visible, model.learning_rate, model.W, model.b, model.c = V, 0.1, W, B, C
for protocol in (0, 2, 5):
    with open(f"object_{protocol}.pkl", "wb") as file:
        pickle.dump(model, file, protocol=protocol)
with open("lists.pkl", "wb") as file:
    pickle.dump([W.tolist(), B.tolist(), C.tolist()], file, protocol=4)
with open("gaussian.pkl", "wb") as file:
    model.visible, model.hidden = "Gaussian", "Bernoulli"
    pickle.dump(model, file, protocol=4)

sklearn_rbm = BernoulliRBM(n_components=H)
sklearn_rbm.components_ = np.asfortranarray(W.T)
sklearn_rbm.intercept_visible_, sklearn_rbm.intercept_hidden_ = B, C
joblib.dump(sklearn_rbm, "sklearn.joblib")
joblib.dump(sklearn_rbm, "sklearn_packed.joblib", compress=3)
joblib.dump(sklearn_rbm, "sklearn_lzma.joblib", compress=("lzma", 3))
np.save("dictionary.npy", {"W": W, "vbias": B, "hbias": C})
scipy.io.savemat(
    "struct.mat",
    {"options": {"epochs": 3.0}, "net": {"name": "rbm", "rbm": {"W": W.T, "b": B[:, None], "c": C[:, None]}}},
    do_compression=True,
)

# --- HDF5 --------------------------------------------------------------------------------------
with h5py.File("rbms.h5", "w", libver="latest") as file:
    file["model_type"] = "BBRBM"
    for update, scale in ((1, 0.5), (20, 1.0)):
        group = file.create_group(f"update_{update}")
        group["params/weight_matrix"] = W * scale
        group["params/vbias"] = B
        group["params/hbias"] = C
        group["vbias"] = group["params/vbias"]
        group["time"] = 1.5
with h5py.File("packed.h5", "w") as file:
    file.create_dataset("model/W:0", data=W, chunks=(2, 3), compression="gzip", shuffle=True)
    file.create_dataset("model/bv:0", data=B)
    file.create_dataset("model/bh:0", data=C)
with h5py.File("matlab73.mat", "w", userblock_size=512) as file:
    for name, values in (("vishid", W), ("visbiases", B[None]), ("hidbiases", C[None])):
        file.create_dataset(name, data=values.T).attrs["MATLAB_class"] = np.bytes_("double")
with open("matlab73.mat", "r+b") as file:
    file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116) + bytes(8) + b"\x00\x02IM")

# Julia: the first index runs fastest, so that HDF5 sees all sides reversed; a layer of 5 x 1.
offset_v, offset_h = np.linspace(0.1, 0.9, V), np.linspace(0.2, 0.7, H)
scale_v, scale_h = np.linspace(0.5, 1.5, V), np.linspace(1.2, 0.8, H)
with h5py.File("standardized.h5", "w", libver="latest") as file:
    file["rbm_hdf5_file_format_version"] = "1.0.0"
    file["rbm_type"] = "StandardizedRBM"
    file["visible_type"], file["hidden_type"] = "Binary", "Binary"
    file["weights"] = W.T.reshape(H, 1, V)
    file["visible_par"], file["hidden_par"] = B.reshape(1, V, 1), C.reshape(H, 1)
    file["offset_v"], file["scale_v"] = offset_v.reshape(1, V), scale_v.reshape(1, V)
    file["offset_h"], file["scale_h"] = offset_h, scale_h
states = lambda n: itertools.product((0, 1), repeat=n)
energies = [
    B @ v + C @ h + ((v - offset_v) / scale_v) @ W @ ((h - offset_h) / scale_h)
    for v in map(np.array, states(V))
    for h in map(np.array, states(H))
]
print("log Z of standardized.h5:", repr(math.log(math.fsum(map(math.exp, energies)))))
spins = lambda n: itertools.product((-1, 1), repeat=n)
energies = [B @ v + C @ h + v @ W @ h for v in map(np.array, spins(V)) for h in map(np.array, spins(H))]
print("log Z of netket.mpack:", repr(math.log(math.fsum(map(math.exp, energies)))))


# --- flax --------------------------------------------------------------------------------------
def array(values):
    content = msgpack.packb((values.shape, values.dtype.name, values.tobytes()), use_bin_type=True)
    return msgpack.ExtType(1, content)


tree = {"params": {"Dense": {"bias": array(C), "kernel": array(W)}, "visible_bias": array(B)}}
with open("netket.mpack", "wb") as file:
    file.write(msgpack.packb(tree))
