"""log Z of a Restricted Boltzmann Machine, how far to trust it, and the likelihood of data.

>>> import lnz
>>> result = lnz.estimate("gwgm-easy")
>>> result.verdict
'exact'

Models are :class:`RBM`, anything that has been trained with scikit-learn, torch or the `rbms` package,
files, or names of built-in models (:func:`models`). Results show themselves, have ``to_dict()`` for
programs and ``plot()`` for people.
"""

from ._builtin import BuiltIn, generate_bms, generate_gwgm, models
from ._estimates import bounds, compare, estimate, exact, sample
from ._lnz import __version__
from ._many import ModelRow, ModelRows, estimate_many
from ._model import RBM, load, save
from ._progress import Progress
from ._results import Comparison, Estimate, ResultWarning, Samples, Score, Strategy, schema
from ._score import score
from ._track import Checkpoint, Track, track
from ._tracker import LogZTracker, Record
from ._train import Epoch, Training, train

__all__ = [
    "RBM",
    "BuiltIn",
    "Checkpoint",
    "Comparison",
    "Epoch",
    "Estimate",
    "LogZTracker",
    "ModelRow",
    "ModelRows",
    "Progress",
    "Record",
    "ResultWarning",
    "Samples",
    "Score",
    "Strategy",
    "Track",
    "Training",
    "__version__",
    "bounds",
    "compare",
    "estimate",
    "estimate_many",
    "exact",
    "generate_bms",
    "generate_gwgm",
    "load",
    "models",
    "sample",
    "save",
    "schema",
    "score",
    "track",
    "train",
]
