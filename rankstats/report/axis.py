"""Axes of differences: ends that show what matters, and round ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rankstats import wording
from rankstats.report.drawings import Axis, ForestRow
from rankstats.report.tones import TOO_FEW

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_PLAIN_STEPS = (1.0, 2.0, 5.0, 10.0)
"""Without quarters, whose labels need a decimal more than their neighbours'."""
_NARROWEST = 1e-300
"""Axes are not drawn narrower: their steps would leave the range of floats."""
_REACH = 4.0
"""How many times farther than the overall interval an axis goes before intervals end in arrows."""
_SEEN = 0.01
"""Which part of an axis a side of zero has to reach before it needs a tick of its own."""


def difference_axis(rows: Iterable[ForestRow], *, ticks: int = 5, margin: float | None = None) -> Axis:
    """Return an axis that holds zero, every estimate, and the intervals of all rows with enough queries.

    Parameters
    ----------
    rows : iterable of ForestRow
        The first row is the overall effect.
    ticks : int
        About how many ticks.
    margin : float, optional
        A margin that has to be visible.

    Examples
    --------
    >>> row = ForestRow("all", "all", "9", "", "", "", "", "", "", True, "better", 0.03, (0.01, 0.05), None)
    >>> [text for _, text in difference_axis([row]).ticks]
    ['−0.02', '0', '+0.02', '+0.04', '+0.06']
    """
    listed = list(rows)
    points = [row.value for row in listed if row.value is not None]
    reached = [e for row in listed if row.tone != TOO_FEW for e in _finite(row.inner) + _finite(row.outer)]
    overall = [abs(e) for row in listed[:1] for e in _finite(row.inner) + _finite(row.outer)]
    reach = _REACH * max(overall, default=math.inf)
    span = [0.0, *points, *(max(-reach, min(reach, e)) for e in reached)]
    if margin:
        span += [-margin, margin]
    low, high = min(span), max(span)
    if high - low < _NARROWEST:
        low, high = -1.0, 1.0
    width = high - low
    low, high = min(low - 0.04 * width, -0.15 * width), max(high + 0.04 * width, 0.15 * width)
    marks = _signed_ticks(low, high, _step((high - low) / ticks))
    return Axis(min(low, marks[0][0]), max(high, marks[-1][0]), marks)


def _signed_ticks(low: float, high: float, step: float) -> tuple[tuple[float, str], ...]:
    """Return ticks around two ends; a step that the data hardly enter is left out, so that the marks use the width."""
    first, last = math.floor(low / step), math.ceil(high / step)
    first += first * step < low - 0.75 * step
    last -= last * step > high + 0.75 * step
    decimals = _tick_decimals(step)
    values = [i * step for i in range(first, last + 1)]
    return tuple((v, "0" if v == 0 else wording.signed(v, decimals)) for v in values)


def _tick_decimals(step: float) -> int:
    is_quarter = abs(step / 10 ** math.floor(math.log10(step) + 1e-9) - 2.5) < 1e-6
    return max(0, -math.floor(math.log10(step) + 1e-9) + int(is_quarter))


def plain_ticks(low: float, high: float, ticks: int = 5) -> tuple[tuple[float, str], ...]:
    """Return round ticks between two ends, without signs.

    Examples
    --------
    >>> [text for _, text in plain_ticks(0, 1)]
    ['0', '0.2', '0.4', '0.6', '0.8', '1.0']
    """
    step = _step((high - low) / ticks, _PLAIN_STEPS) if high > low else 1.0
    return _plain_ticks(low, high, step)


def value_axis(values: Iterable[float], *, ticks: int = 6) -> Axis:
    """Return an axis of signed values that holds zero and all of them, with a tick on each side that has some.

    Examples
    --------
    >>> [text for _, text in value_axis([0.63, -0.14]).ticks]
    ['−0.2', '0', '+0.2', '+0.4', '+0.6']
    """
    listed = [0.0, *values]
    least, most = min(listed), max(listed)
    span = most - least
    if span < _NARROWEST:
        return Axis(-1.0, 1.0, _signed(_plain_ticks(-1.0, 1.0, 1.0)))
    low, high = least - 0.05 * span, most + 0.05 * span
    step = _step((high - low) / ticks, _PLAIN_STEPS)
    low = min(low, -step) if least < -_SEEN * span else low
    high = max(high, step) if most > _SEEN * span else high
    return Axis(low, high, _signed(_plain_ticks(low, high, step)))


def _signed(ticks: Iterable[tuple[float, str]]) -> tuple[tuple[float, str], ...]:
    return tuple((value, text if value <= 0 else f"+{text}") for value, text in ticks)


def _plain_ticks(low: float, high: float, step: float) -> tuple[tuple[float, str], ...]:
    decimals = _tick_decimals(step)
    values = [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    return tuple((v, "0" if v == 0 else wording.number(v, decimals)) for v in values)


def _finite(interval: tuple[float, float] | None) -> list[float]:
    return [] if interval is None else [end for end in interval if math.isfinite(end)]


def _step(rough: float, steps: Sequence[float] = _STEPS) -> float:
    size = 10.0 ** math.floor(math.log10(rough))
    return next(s for s in steps if s * size >= rough * 0.999) * size
