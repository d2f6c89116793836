"""Figures of single queries: sorted differences, and beside them one system's values against another's."""

from __future__ import annotations

from collections import Counter

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator

from rankstats.report import drawings, tones
from rankstats.report.axis import plain_ticks, value_axis
from rankstats.report.figures_canvas import (
    BLUE,
    GREY,
    HAIR,
    INK,
    QUIET,
    VERMILION,
    VERMILION_TEXT,
    Box,
    boxes,
    make_canvas,
    set_ticks,
)
from rankstats.report.strips import POINTS_DRAWN, side_words, thinned
from rankstats.report.texts import label

WIDE, SQUARE, HEIGHT = 696.0, 328.0, 378.0
"""Width of a waterfall and of the scatter beside it, and the height of both."""
CELLS = 36
"""Cells of the scatter's grid, each way."""
_LEVELS = ((10, 0.92), (2, 0.68), (1, 0.44))
"""From how many queries a cell is filled how far; its colour is the same, so that a single query can be seen."""
_COLOURS = {1: BLUE, -1: VERMILION, 0: GREY}
_LEFT, _RIGHT, _BOTTOM, _LINE = 50.0, 8.0, 48.0, 16.0
_ENTERED = 0.5
"""Which part of a step the values have to enter so that the axis goes on to the next tick."""


def waterfall(drawing: drawings.Waterfall) -> Canvas:
    """Return the figure of sorted differences."""
    values = thinned(drawing.differences, POINTS_DRAWN)
    canvas, axes = make_canvas(HEIGHT, 72, 6, top=32, bottom=_BOTTOM, across=WIDE)
    axis = value_axis(drawing.differences)
    axes.set_xlim(0, len(values))
    axes.set_ylim(axis.low, axis.high)
    set_ticks(axes, axis.ticks, "y")
    edges = [float(i) for i in range(len(values) + 1)]
    good, bad = (BLUE, VERMILION) if drawing.higher_is_better else (VERMILION, BLUE)
    for keep, colour in ((max, good), (min, bad)):
        if any(kept := [keep(value, 0.0) for value in values]):
            axes.stairs(kept, edges, fill=True, color=colour, linewidth=0)
    axes.axhline(0, color=INK, linewidth=1)
    axes.xaxis.set_major_locator(FixedLocator([]))
    axes.set_xlabel(f"{len(drawing.differences):,} queries, the largest difference first", labelpad=8)
    axes.set_ylabel(label(drawing.axis_label, 44), labelpad=8, color=QUIET, fontsize=12)
    for x, (text, tone), align in zip((0.0, 1.0), side_words(drawing), ("left", "right"), strict=True):
        colour = BLUE if tone == tones.BETTER else VERMILION_TEXT
        axes.annotate(
            text, (x, 1), (0, 10), xycoords="axes fraction", textcoords="offset points", ha=align, va="baseline",
            color=colour,
        )  # fmt: skip
    return canvas


def scatter(drawing: drawings.Scatter) -> Canvas:
    """Return the figure of one system against another: a mark a query, or cells where there are many."""
    dense = len(drawing.x) > POINTS_DRAWN
    canvas, axes = make_canvas(HEIGHT, _LEFT, _RIGHT, top=HEIGHT - _BOTTOM - (SQUARE - _LEFT - _RIGHT),
                               bottom=_BOTTOM, across=SQUARE)  # fmt: skip
    limits, ticks = _square_axis(drawing)
    axes.set_xlim(*limits)
    axes.set_ylim(*limits)
    axes.spines["left"].set_visible(True)
    axes.spines["left"].set_color(HAIR)
    set_ticks(axes, ticks)
    set_ticks(axes, ticks, "y")
    axes.plot(limits, limits, color=INK, linewidth=1)
    if dense:
        _cells(axes, drawing, limits)
    else:
        _points(axes, drawing)
    for i, (text, colour) in enumerate(_scatter_key(drawing, dense=dense)):
        canvas.text(0, 1 - (10 + i * _LINE) / HEIGHT, text, ha="left", va="center", color=colour, fontsize=12)
    axes.set_xlabel(label(drawing.x_label), labelpad=6)
    axes.set_ylabel(label(drawing.y_label), labelpad=6, color=QUIET, fontsize=12)
    return canvas


def _square_axis(drawing: drawings.Scatter) -> tuple[tuple[float, float], tuple[tuple[float, str], ...]]:
    """Return the limits and ticks of both axes; the last tick is not far inside the values."""
    everything = (*drawing.x, *drawing.y)
    low, high = min(everything), max(everything)
    pad = 0.03 * ((high - low) or 1.0)
    ticks = plain_ticks(low, high)
    if len(ticks) > 1:
        step = ticks[1][0] - ticks[0][0]
        high = max(high, ticks[-1][0] + step) if high > ticks[-1][0] + _ENTERED * step else high
        ticks = plain_ticks(low, high)
    return (low - pad, high + pad), ticks


def _scatter_key(drawing: drawings.Scatter, *, dense: bool) -> list[tuple[str, str]]:
    """Say above the axes what lies on either side of the diagonal, and what the sizes of cells are."""
    sides = ("above", "below") if drawing.higher_is_better else ("below", "above")
    marks = ("■", "■") if dense else (tones.MARKS[tones.BETTER], tones.MARKS[tones.WORSE])
    names = (drawing.y_label, drawing.x_label)
    lines = [
        (f"{mark} {side}: {label(name, 24)} better", colour)
        for mark, side, name, colour in zip(marks, sides, names, (BLUE, VERMILION_TEXT), strict=True)
    ]
    if dense:
        return [*lines, ("size: 1, 2 to 9, 10 or more queries", QUIET)]
    equal = any(abs(x - y) <= drawing.tolerance for x, y in zip(drawing.x, drawing.y, strict=True))
    return [*lines, (f"{tones.MARKS[tones.NOT_SHOWN]} equal", QUIET)] if equal else lines


def _side(drawing: drawings.Scatter, x: float, y: float) -> int:
    """Return 1 where the system is better, -1 where it is worse, 0 where both are equal."""
    if abs(y - x) <= drawing.tolerance:
        return 0
    return 1 if (y > x) == drawing.higher_is_better else -1


def _points(axes: Axes, drawing: drawings.Scatter) -> None:
    """Draw a mark a query; a thin edge in the colour of the paper keeps those apart that overlap."""
    groups: dict[int, list[tuple[float, float]]] = {0: [], 1: [], -1: []}
    for x, y in zip(drawing.x, drawing.y, strict=True):
        groups[_side(drawing, x, y)].append((x, y))
    for (side, points), shape in zip(groups.items(), "o^v", strict=True):
        if points:
            axes.plot(
                [x for x, _ in points], [y for _, y in points], marker=shape, markersize=6.5, linestyle="none",
                color=_COLOURS[side], markeredgecolor="#ffffff", markeredgewidth=0.6, clip_on=False,
            )  # fmt: skip


def _cells(axes: Axes, drawing: drawings.Scatter, limits: tuple[float, float]) -> None:
    """Count queries in the cells of a grid; a cell takes the colour of the side that more of its queries lie on."""
    size = (limits[1] - limits[0]) / CELLS
    counts: Counter[tuple[int, int]] = Counter()
    sides: Counter[tuple[int, int]] = Counter()
    for x, y in zip(drawing.x, drawing.y, strict=True):
        cell = (int((x - limits[0]) / size), int((y - limits[0]) / size))
        counts[cell] += 1
        sides[cell] += _side(drawing, x, y)
    found: dict[str, list[Box]] = {}
    for column, row in sorted(counts):
        side = (sides[column, row] > 0) - (sides[column, row] < 0)
        filled = next(level for least, level in _LEVELS if counts[column, row] >= least) * size
        middle = [limits[0] + (place + 0.5) * size for place in (column, row)]
        found.setdefault(_COLOURS[side], []).append((middle[0] - filled / 2, middle[1] - filled / 2, filled, filled))
    for colour, places in sorted(found.items()):
        boxes(axes, places, colour)
