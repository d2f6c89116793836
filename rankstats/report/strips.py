"""Geometry of the strip on the first screen and of all figures on a narrow page: percent of a width, no markup."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from rankstats.report.axis import value_axis
from rankstats.report.drawings import Axis, Distribution, Forest, ForestRow, OutcomeBar, Waterfall
from rankstats.report.tones import (
    BETTER,
    EQUIVALENT,
    HIGHER,
    HOLLOW,
    LOWER,
    MARKS,
    NOT_SHOWN,
    NOT_TESTED,
    TOO_FEW,
    WITHHELD,
    WORDS,
    WORSE,
)

# The colours are those of the figures; the style sheet adapts both to a dark page.
_COLOURS = {
    BETTER: "#0072b2",
    WORSE: "#d55e00",
    NOT_SHOWN: "#767676",
    EQUIVALENT: "#767676",
    WITHHELD: "#767676",
    TOO_FEW: "#767676",
    HIGHER: "#767676",
    LOWER: "#767676",
    NOT_TESTED: "#767676",
}
_PAD = 10
"""Percent of the width at both ends, where tick labels and arrows need room."""
_LABEL = 25
"""Percent of a narrow cell that the label of a tick takes."""
_HEIGHT = 120
"""Height of the bars of a narrow figure in pixels."""
POINTS_DRAWN = 500
"""Of more queries a waterfall draws every n-th, and a scatter counts them in cells."""
_BARS = 120
"""Bars that a narrow page can tell apart; of more queries every n-th is drawn."""
_SHAPES = {
    BETTER: "M0-5.5 5.5 4.5H-5.5Z",
    WORSE: "M0 5.5 5.5-4.5H-5.5Z",
    EQUIVALENT: "M0-5.5 5.5 0 0 5.5-5.5 0Z",
    WITHHELD: "M-4.2-4.2H4.2V4.2H-4.2Z",
    NOT_SHOWN: "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0-4.5 0Z",
    TOO_FEW: "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0-4.5 0Z",
    HIGHER: "M0-5.5 5.5 4.5H-5.5Z",
    LOWER: "M0 5.5 5.5-4.5H-5.5Z",
    NOT_TESTED: "M-2.8 0A2.8 2.8 0 1 0 2.8 0A2.8 2.8 0 1 0-2.8 0Z",
}


@dataclass(frozen=True, slots=True)
class Whisker:
    """An interval: its ends in percent, and whether each runs off the axis."""

    low: str
    high: str
    low_arrow: bool
    high_arrow: bool


@dataclass(frozen=True, slots=True)
class Strip:
    """One row of the strip."""

    zero: str
    reference: str | None
    inner: Whisker | None
    outer: Whisker | None
    point: str | None
    shape: str
    colour: str
    hollow: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick of the strip's axis: its place in percent, its text, and what a narrow cell does with it.

    The kind is 'minor' where it is left out, 'zero', 'low' or 'high' where its label must not leave the cell, or empty.
    """

    at: str
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar: where it begins and how wide it is, in percent."""

    start: str
    width: str
    colour: str


@dataclass(frozen=True, slots=True)
class Profile:
    """Bars side by side as paths in a box of `width` × `height`, of which only the height is in pixels.

    The ticks, places in pixels with texts, are beside the box; `sides` are the words above it, each with its tone.
    """

    width: int
    height: int
    paths: tuple[tuple[str, str], ...]
    zero: str
    ticks: tuple[tuple[str, str], ...]
    sides: tuple[tuple[str, str], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts as one path in a box of `width` × `height`; the marks below it, and the axis of both."""

    width: int
    height: int
    path: str
    marks: Strip
    axis: Axis


@overload
def strip(drawn: ForestRow, forest: Forest) -> Strip: ...
@overload
def strip(drawn: OutcomeBar) -> tuple[Part, ...]: ...
@overload
def strip(drawn: Waterfall) -> Profile: ...
@overload
def strip(drawn: Distribution) -> Histogram: ...
def strip(
    drawn: ForestRow | OutcomeBar | Waterfall | Distribution, forest: Forest | None = None
) -> Strip | tuple[Part, ...] | Profile | Histogram:
    """Return the geometry of a row of a forest, of a bar, or of a whole figure as a narrow page draws it."""
    if isinstance(drawn, OutcomeBar):
        return _parts(drawn)
    if isinstance(drawn, Waterfall):
        return _profile(drawn)
    if isinstance(drawn, Distribution):
        return _histogram(drawn)
    assert forest is not None  # a row is drawn on the axis of its forest
    return _row(drawn, forest)


def _row(row: ForestRow, forest: Forest) -> Strip:
    axis = forest.axis
    inside = row.value is not None and axis.low <= row.value <= axis.high
    return Strip(
        zero=_percent(0.0, axis),
        reference=None if forest.reference is None else _percent(forest.reference, axis),
        inner=_whisker(row.inner, axis),
        outer=_whisker(row.outer, axis),
        point=_percent(row.value, axis) if inside and row.value is not None else None,
        shape=_SHAPES[row.tone],
        colour=_COLOURS[row.tone],
        hollow=row.tone in HOLLOW,
    )


def _parts(bar: OutcomeBar) -> tuple[Part, ...]:
    counts = (bar.better, bar.equal, bar.worse)
    total = max(1, sum(counts))
    return tuple(
        Part(f"{100 * sum(counts[:i]) / total:.2f}%", f"{100 * n / total:.2f}%", colour)
        for i, (n, colour) in enumerate(zip(counts, (_COLOURS[BETTER], "#c8c8c8", _COLOURS[WORSE]), strict=True))
        if n
    )


def thinned(values: Sequence[float], most: int) -> list[float]:
    """Keep at most so many order statistics, both ends included."""
    n = len(values)
    if n <= most:
        return list(values)
    return [values[round(i * (n - 1) / (most - 1))] for i in range(most)]


def side_words(drawing: Waterfall) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return what the two sides of sorted differences are, each with its tone; empty where a side has no query.

    Examples
    --------
    >>> side_words(Waterfall((0.2, 0.1, -0.3), "difference", higher_is_better=False))
    (('▼ 2 worse', 'worse'), ('1 better ▲', 'better'))
    """
    above = sum(value > drawing.tolerance for value in drawing.differences)
    below = sum(value < -drawing.tolerance for value in drawing.differences)
    first, second = (BETTER, WORSE) if drawing.higher_is_better else (WORSE, BETTER)
    return (
        (f"{MARKS[first]} {above:,} {WORDS[first]}" if above else "", first),
        (f"{below:,} {WORDS[second]} {MARKS[second]}" if below else "", second),
    )


def _profile(drawing: Waterfall) -> Profile:
    values = thinned(drawing.differences, _BARS)
    axis = value_axis(drawing.differences)

    def down(value: float) -> str:
        return f"{_HEIGHT * (axis.high - value) / (axis.high - axis.low):.1f}".removesuffix(".0")

    zero, sides = down(0.0), side_words(drawing)
    paths = []
    for (_, tone), keep in zip(sides, (max, min), strict=True):
        steps = "".join(f"V{down(keep(value, 0.0))}H{i}" for i, value in enumerate(values, 1))
        paths.append((f"M0 {zero}{steps}V{zero}Z", _COLOURS[tone]))
    marks = tuple((down(value), text) for value, text in axis.ticks)
    return Profile(len(values), _HEIGHT, tuple(paths), zero, marks, sides)


def _histogram(drawing: Distribution) -> Histogram:
    axis, top = value_axis((*drawing.edges, drawing.observed)), max(drawing.counts) or 1
    across = [f"{10 * _place(edge, axis):.0f}" for edge in drawing.edges]
    steps = "".join(f"V{_HEIGHT * (1 - n / top):.0f}H{end}" for n, end in zip(drawing.counts, across[1:], strict=True))
    finite = drawing.interval is not None and all(map(math.isfinite, drawing.interval))
    marks = Strip(
        zero=_percent(0.0, axis),
        reference=_percent(drawing.observed, axis),
        inner=_whisker(drawing.interval, axis) if finite else None,
        outer=None,
        point=_percent(drawing.observed, axis),
        shape=_SHAPES[drawing.tone],
        colour=_COLOURS[drawing.tone],
        hollow=drawing.tone in HOLLOW,
    )
    return Histogram(1000, _HEIGHT, f"M{across[0]} {_HEIGHT}{steps}V{_HEIGHT}Z", marks, axis)


def ticks(axis: Axis) -> tuple[Tick, ...]:
    """Return the ticks of an axis; every second one where they would touch.

    A narrow cell shows zero and the outermost one on each side, so that both sides have a scale.
    """
    chosen = axis.ticks
    zero = _zero(chosen)
    if len(chosen) > 5:
        chosen = tuple(tick for i, tick in enumerate(chosen) if (i - zero) % 2 == 0)
        zero = _zero(chosen)
    texts = _shortest([text for _, text in chosen])
    places = [_place(value, axis) for value, _ in chosen]
    return tuple(
        Tick(f"{place:.2f}%", text, _kind(i, zero, places))
        for i, (place, text) in enumerate(zip(places, texts, strict=True))
    )


def _zero(ticks: Sequence[tuple[float, str]]) -> int:
    return next((i for i, (value, _) in enumerate(ticks) if value == 0), 0)


def _kind(i: int, zero: int, places: Sequence[float]) -> str:
    """Return what a narrow cell does with a tick, whose label is about as wide as `_LABEL` percent of it."""
    if i == zero:
        return "zero"
    if i not in {0, len(places) - 1} or abs(places[i] - places[zero]) < _LABEL:
        return "minor"
    return "low" if places[i] < _LABEL else "high" if places[i] > 100 - _LABEL else ""


def _shortest(texts: list[str]) -> list[str]:
    """Drop decimals that are zero in every text."""
    while all(text == "0" or ("." in text and text[-1] == "0") for text in texts) and any("." in t for t in texts):
        texts = [text if text == "0" else text[:-1].removesuffix(".") for text in texts]
    return texts


def _whisker(interval: tuple[float, float] | None, axis: Axis) -> Whisker | None:
    if interval is None or interval[0] > axis.high or interval[1] < axis.low:
        return None
    low, high = max(interval[0], axis.low), min(interval[1], axis.high)
    return Whisker(_percent(low, axis), _percent(high, axis), interval[0] < axis.low, interval[1] > axis.high)


def _percent(value: float, axis: Axis) -> str:
    return f"{_place(value, axis):.2f}%"


def _place(value: float, axis: Axis) -> float:
    """Return a place in percent; a margin at both ends keeps marks and tick labels there from being cut."""
    return _PAD + (100 - 2 * _PAD) * (value - axis.low) / (axis.high - axis.low)
