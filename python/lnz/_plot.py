"""Results as figures; matplotlib is imported when the first one is drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._results import Comparison, Estimate
    from ._track import Track
    from ._tracker import LogZTracker
    from ._train import Training

# Colours that most colour-blind people tell apart, and that differ in grey.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError("plot() needs matplotlib; install lnz[plot] or matplotlib") from None
    return pyplot


def _new(ax: Axes | None, width: float) -> Axes:
    """The axes that were given, or else those of a new figure."""
    if ax is not None:
        return ax
    _, axes = _pyplot().subplots(figsize=(width, 3.4), layout="constrained")
    made: Axes = axes
    return made


def _new_pair() -> NDArray[np.object_]:
    _, axes = _pyplot().subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    made: NDArray[np.object_] = axes
    return made


def plot_estimate(
    result: Estimate, kind: str | None, ax: Axes | None
) -> Axes | NDArray[np.object_]:
    drawings = {"weights": _weights, "path": _path, "rounds": _rounds, "starts": _starts}
    if kind is not None and kind not in drawings:
        raise ValueError(f"kind is {kind!r}; expected one of {', '.join(map(repr, drawings))}")
    if result.method == "exact":
        raise ValueError("an exact value has nothing to plot: no chains and no error")
    if kind == "path" and result.log_weights is None:
        raise ValueError(
            f'kind={kind!r} needs the chains of plain AIS (method="ais"), '
            f"but this result is by the method {result.method!r}"
        )
    if kind is None and ax is None and result.path is not None:
        pair = _new_pair()
        _weights(result, pair[0])
        _path(result, pair[1])
        return pair
    if kind is None:
        kind = "starts" if result.log_weights is None else "weights"
    axes = _new(ax, 6)
    drawings[kind](result, axes)
    return axes


def _weights(result: Estimate, ax: Any) -> None:
    if result._weights is None:
        raise ValueError("several parts of the model were sampled, and their chains have no sum")
    ax.hist(result._weights[np.isfinite(result._weights)], bins=40, color=BLUE, alpha=0.75)
    ax.axvline(result.log_z, ymax=0.74, color="black", label=f"log Z = {result.log_z:.2f}")
    # A line far outside would press the histogram into a corner.
    if result.lower_bound is not None and result.lower_bound > ax.get_xlim()[1]:
        label = f"floor {result.lower_bound:.2f}, off to the right"
        ax.plot([], [], color=GREEN, label=label)
    else:
        _floor(result, ax.axvline)
    ax.set(xlabel="log weight of a chain", ylabel="chains", title=_title(result))
    ax.locator_params(axis="x", nbins=6)
    ax.set_ylim(top=1.35 * ax.get_ylim()[1])  # room for the legend
    ax.legend(frameon=False, loc="upper right")


def _path(result: Estimate, ax: Any) -> None:
    if result.path is None:
        raise ValueError('this run has no path, because precision="f64" keeps none')
    betas, values = result.path.T
    ax.plot(betas, values, color=BLUE)
    ax.plot([1.0], [result.log_z], "o", color="black", label=f"log Z = {result.log_z:.2f}")
    # The floor is one of the model itself, and not of what is on the way to it.
    _floor(result, lambda at, **look: ax.plot([0.95, 1.0], [at, at], **look))
    ax.set(
        xlabel=r"inverse temperature $\beta$", ylabel=r"log Z at $\beta$", title="annealing path"
    )
    ax.legend(frameon=False)


def _rounds(result: Estimate, ax: Any) -> None:
    if result.rounds is None:
        raise ValueError(
            f"kind='rounds' needs the rounds of auto, but this result is by {result.method!r}, "
            "or has several parts"
        )
    seconds, values, low, high = result.rounds.T
    arms = _arms(values, zip(low, high))
    ax.errorbar(seconds, values, yerr=arms, color=BLUE, marker="o", capsize=3)
    _floor(result, ax.axhline)
    ax.set(xlabel="seconds", ylabel="log Z", title=_title(result))


def _floor(result: Estimate, line: Any) -> None:
    """What log Z cannot be below, if the result is: then it matters."""
    if result.lower_bound is not None and result.lower_bound > result.log_z:
        line(result.lower_bound, color=GREEN, label=f"floor {result.lower_bound:.2f}")


def _starts(result: Estimate, ax: Any) -> None:
    """The result with its interval, above what each family of starts found in its trial."""
    parts = result.to_dict()["sampled"] or []
    families = parts[0]["families"][::-1] if len(parts) == 1 else []
    labels = [f"trial, {family['family']}" for family in families]
    for at, family in enumerate(families):
        reach = 2 * (family["trial_error"] or 0.0)
        ax.errorbar(
            [family["trial_log_z"]], [at], xerr=reach, fmt="o", mfc="none", capsize=3, color=GREY
        )
    arms = _arms([result.log_z], [result.interval])
    marker, colour = ("s", ORANGE) if result.verdict == "suspect" else ("o", BLUE)
    ax.errorbar([result.log_z], [len(labels)], xerr=arms, fmt=marker, capsize=3, color=colour)
    ax.set_yticks(range(len(labels) + 1), [*labels, "result"])
    ax.set_ylim(-0.6, len(labels) + 0.6)
    if parts and result.lower_bound is not None:
        ax.axvline(result.lower_bound, color=GREEN, label="floor")
        ax.legend(frameon=False)
    ax.set(xlabel="log Z", title=_title(result))


def plot_comparison(comparison: Comparison, ax: Axes | None) -> Axes:
    axes = _new(ax, 7)
    _strategies(comparison, axes)
    return axes


def _strategies(comparison: Comparison, ax: Any) -> None:
    """Each strategy as a point with its 95% interval, the first on top."""
    rows = list(comparison)[::-1]
    labels = [f"{row.start}, {'transposed' if row.transpose else 'original'}" for row in rows]
    for verdict, colour in (("suspect", ORANGE), ("other", BLUE)):
        chosen = [
            (at, row)
            for at, row in enumerate(rows)
            if (row.verdict == "suspect") == (verdict == "suspect")
        ]
        if not chosen:
            continue
        values = [row.log_z for _, row in chosen]
        arms = _arms(values, [row.interval for _, row in chosen])
        name = verdict if verdict == "suspect" else "not suspect"
        marker = "s" if verdict == "suspect" else "o"
        places = [at for at, _ in chosen]
        ax.errorbar(values, places, xerr=arms, fmt=marker, capsize=3, color=colour, label=name)
    if comparison.exact is not None:
        ax.axvline(comparison.exact, color="black", linestyle="--", label="exact")
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(-0.6, len(labels) - 0.4)
    ax.set(xlabel="log Z", title="strategies side by side, with 95% intervals")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def plot_tracker(tracker: LogZTracker, given: Any) -> NDArray[np.object_]:
    steps = [record.step for record in tracker.history]
    return _along("step", steps, tracker.history, given)


def plot_track(track: Track, ax: Axes | None) -> Axes:
    axes = _new(ax, 6)
    at = [row.at for row in track]
    values = [row.log_z for row in track]
    arms = _arms(values, [row.interval for row in track])
    axes.errorbar(at, values, yerr=arms, color=BLUE, marker=".", capsize=2, label="log Z")
    checked = [
        (row.at, row.independent_log_z) for row in track if row.independent_log_z is not None
    ]
    if checked:
        x, y = zip(*checked, strict=True)
        name = "independent estimate"
        axes.plot(x, y, "o", markerfacecolor="none", color=GREY, label=name)
    doubtful = [row for row in track if row.verdict == "suspect"]
    if doubtful:
        places, heights = [row.at for row in doubtful], [row.log_z for row in doubtful]
        axes.plot(places, heights, "s", color=ORANGE, label="suspect")
    axes.set(xlabel=track.unit, ylabel="log Z (nats)", title="partition function")
    axes.legend(frameon=False)
    return axes


def plot_training(training: Training, given: Any) -> NDArray[np.object_]:
    tracked = [epoch for epoch in training.history if epoch.log_z is not None]
    if not tracked:
        raise ValueError('nothing was tracked; train with track="all"')
    return _along("epoch", [epoch.epoch for epoch in tracked], tracked, given)


def _along(name: str, steps: list[int], history: Any, given: Any) -> NDArray[np.object_]:
    """log Z and likelihoods with their intervals, against epochs or steps."""
    axes: NDArray[np.object_] = _new_pair() if given is None else given
    values = [record.log_z for record in history]
    below, above = _arms(values, [record.interval for record in history])
    axes[0].errorbar(steps, values, yerr=[below, above], color=GREEN, marker=".", capsize=2)
    doubtful = [at for at, record in enumerate(history) if record.verdict == "suspect"]
    if doubtful:
        x, y = [steps[at] for at in doubtful], [values[at] for at in doubtful]
        axes[0].plot(x, y, "s", color=ORANGE, label="suspect")
        axes[0].legend(frameon=False)
    axes[0].set(xlabel=name, ylabel="log Z (nats)", title="partition function")
    # log p = F - log Z: what log Z may be higher, the likelihood may be lower.
    for label, colour, style in (("train", BLUE, "-"), ("validation", ORANGE, "--")):
        means = [getattr(record, f"{label}_log_likelihood") for record in history]
        known = [at for at, mean in enumerate(means) if mean is not None]
        if known:
            axes[1].errorbar(
                [steps[at] for at in known],
                [means[at] for at in known],
                yerr=[[above[at] for at in known], [below[at] for at in known]],
                color=colour, linestyle=style, marker=".", capsize=2, label=label,
            )  # fmt: skip
    if axes[1].containers:
        axes[1].legend(frameon=False)
    axes[1].set(xlabel=name, ylabel="nats per example", title="mean log-likelihood")
    return axes


def _title(result: Estimate) -> str:
    return f"{result.to_dict()['model']['name']}, {result.method}: {result.verdict}"


def _arms(values: Any, intervals: Any) -> list[list[float]]:
    """How far intervals reach below and above the values: not at all where they do not hold them, or do not end."""
    below, above = [], []
    for value, (low, high) in zip(values, intervals):
        below.append(max(value - low, 0.0) if math.isfinite(low) else 0.0)
        above.append(max(high - value, 0.0) if math.isfinite(high) else 0.0)
    return [below, above]
