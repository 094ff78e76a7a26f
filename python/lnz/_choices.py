"""The names that options take and verdicts have, for editors and type checkers.

They are those of the library: the tests compare them with what the compiled half knows.
"""

from __future__ import annotations

from typing import Literal

Method = Literal["auto", "ais", "exact", "tempering"]
Start = Literal["uniform", "data", "gibbs", "metropolis"]
Init = Literal["zero", "one", "random", "mf", "ps"]
ChainLayout = Literal["parallel", "single"]
Precision = Literal["i16", "i32", "f64"]
Binarize = Literal["none", "threshold", "bernoulli"]
VisibleBias = Literal["data", "zero"]
Units = Literal["binary", "spin"]
Verdict = Literal["exact", "consistent", "unchecked", "suspect"]

# A likelihood whose log Z was given as a number.
ScoreVerdict = Literal["exact", "consistent", "unchecked", "suspect", "given"]

# The figures of an estimate.
Kind = Literal["weights", "path", "rounds", "starts"]
