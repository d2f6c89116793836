"""Geometry of the strip on the first screen: positions in percent of a cell's width, no markup."""

from __future__ import annotations

from dataclasses import dataclass

from rankstats.report.blocks import BETTER, EQUIVALENT, NOT_SHOWN, TOO_FEW, WORSE, Axis, Forest, ForestRow

# The colours are those of the figures; the style sheet adapts both to a dark page.
_COLOURS = {
    BETTER: "#0072b2",
    WORSE: "#d55e00",
    NOT_SHOWN: "#767676",
    EQUIVALENT: "#767676",
    TOO_FEW: "#767676",
}
_PAD = 10
"""Percent of the width at both ends, where tick labels and arrows need room."""
_SHAPES = {
    BETTER: "M0-5.5 5.5 4.5H-5.5Z",
    WORSE: "M0 5.5 5.5-4.5H-5.5Z",
    EQUIVALENT: "M0-5.5 5.5 0 0 5.5-5.5 0Z",
    NOT_SHOWN: "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0-4.5 0Z",
    TOO_FEW: "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0-4.5 0Z",
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
    """A tick of the strip's axis: its place in percent, its text, and whether a narrow page leaves it out."""

    at: str
    text: str
    minor: bool


def strip(row: ForestRow, forest: Forest) -> Strip:
    """Return the geometry of one row of a forest."""
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
        hollow=row.tone == TOO_FEW,
    )


def ticks(axis: Axis) -> tuple[Tick, ...]:
    """Return the ticks of an axis; every second one where they would touch."""
    chosen = axis.ticks
    zero = next((i for i, (value, _) in enumerate(chosen) if value == 0), 0)
    if len(chosen) > 5:
        chosen = tuple(tick for i, tick in enumerate(chosen) if (i - zero) % 2 == 0)
        zero = next((i for i, (value, _) in enumerate(chosen) if value == 0), 0)
    texts = _shortest([text for _, text in chosen])
    return tuple(
        Tick(_percent(value, axis), text, (i - zero) % 2 == 1)
        for i, ((value, _), text) in enumerate(zip(chosen, texts, strict=True))
    )


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
    """Keep a margin at both ends, so that marks and tick labels at the ends are not cut."""
    share = (value - axis.low) / (axis.high - axis.low)
    return f"{_PAD + (100 - 2 * _PAD) * share:.2f}%"
