"""Figures of single queries: sorted differences, and one system's values against another's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator

from rankstats.report import blocks
from rankstats.report.axis import plain_ticks
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
from rankstats.report.texts import label

POINTS_DRAWN = 500
"""Of more queries the waterfall draws every n-th, and the scatter counts them in cells."""
CELLS = 64
"""Cells of the scatter's grid, each way."""
_LEVELS = ((1, 0.3), (2, 0.55), (6, 0.95))
"""From how many queries a cell is how opaque."""


def _thinned(values: Sequence[float]) -> list[float]:
    """Keep at most `POINTS_DRAWN` order statistics, both ends included."""
    n = len(values)
    if n <= POINTS_DRAWN:
        return list(values)
    return [values[round(i * (n - 1) / (POINTS_DRAWN - 1))] for i in range(POINTS_DRAWN)]


def waterfall(drawing: blocks.Waterfall) -> Canvas:
    """Return the figure of sorted differences."""
    values = _thinned(drawing.differences)
    canvas, axes = make_canvas(230, 64, 10, top=12, bottom=34)
    low, high = min(0.0, *values), max(0.0, *values)
    pad = 0.05 * ((high - low) or 1.0)
    axes.set_xlim(0, len(values))
    axes.set_ylim(low - pad, high + pad)
    ticks = [(v, text if text == "0" or v < 0 else f"+{text}") for v, text in plain_ticks(low - pad, high + pad, 4)]
    set_ticks(axes, ticks, "y")
    edges = [float(i) for i in range(len(values) + 1)]
    good, bad = (BLUE, VERMILION) if drawing.higher_is_better else (VERMILION, BLUE)
    axes.stairs([max(v, 0.0) for v in values], edges, fill=True, color=good, linewidth=0)
    axes.stairs([min(v, 0.0) for v in values], edges, fill=True, color=bad, linewidth=0)
    axes.axhline(0, color=INK, linewidth=1)
    axes.xaxis.set_major_locator(FixedLocator([]))
    axes.set_xlabel(f"{len(drawing.differences):,} queries, the largest difference first", labelpad=8)
    above, below = ("▲ better", "worse ▼") if drawing.higher_is_better else ("▼ worse", "better ▲")
    axes.text(0.06 * len(values), high - pad, above, color=_side_ink(good), va="top")
    axes.text(0.94 * len(values), low + pad, below, color=_side_ink(bad), ha="right", va="bottom")
    return canvas


def _side_ink(colour: str) -> str:
    return VERMILION_TEXT if colour == VERMILION else colour


def scatter(drawing: blocks.Scatter) -> Canvas:
    """Return the figure of one system against another: a mark a query, or cells where there are many."""
    everything = (*drawing.x, *drawing.y)
    low, high = min(everything), max(everything)
    pad = 0.03 * ((high - low) or 1.0)
    side = 380.0
    canvas, axes = make_canvas(side + 62, 64, 16, top=12, bottom=50, across=64 + side + 16)
    limits = (low - pad, high + pad)
    axes.set_xlim(*limits)
    axes.set_ylim(*limits)
    axes.spines["left"].set_visible(True)
    axes.spines["left"].set_color(HAIR)
    ticks = plain_ticks(low, high)
    set_ticks(axes, ticks)
    set_ticks(axes, ticks, "y")
    axes.plot(limits, limits, color=INK, linewidth=1)
    dense = len(drawing.x) > POINTS_DRAWN
    if dense:
        _cells(axes, drawing, limits)
    else:
        _points(axes, drawing)
    better = (drawing.y_label, drawing.x_label) if drawing.higher_is_better else (drawing.x_label, drawing.y_label)
    corners = ((0.02, 0.98, better[0], "left", "top"), (0.98, 0.02, better[1], "right", "bottom"))
    for x, y, name, across, down in corners:
        text = f"{label(name, 24)} better"
        axes.text(x, y, text, transform=axes.transAxes, ha=across, va=down, color=QUIET, fontsize=12)
    axes.set_xlabel(label(drawing.x_label) + (" · stronger colour: more queries" if dense else ""), labelpad=6)
    axes.set_ylabel(label(drawing.y_label), labelpad=8, color=QUIET, fontsize=12)
    return canvas


def _points(axes: Axes, drawing: blocks.Scatter) -> None:
    groups: dict[str, list[tuple[float, float]]] = {BLUE: [], VERMILION: [], GREY: []}
    for x, y in zip(drawing.x, drawing.y, strict=True):
        colour = GREY if x == y else BLUE if (y > x) == drawing.higher_is_better else VERMILION
        groups[colour].append((x, y))
    for (colour, points), shape in zip(groups.items(), ("^", "v", "o"), strict=True):
        if points:
            axes.plot(
                [x for x, _ in points], [y for _, y in points], marker=shape, markersize=5, linestyle="none",
                color=colour, markeredgewidth=0, alpha=0.6,
            )  # fmt: skip


def _cells(axes: Axes, drawing: blocks.Scatter, limits: tuple[float, float]) -> None:
    """Count queries in the cells of a grid; a cell takes the colour of the side that more of its queries lie on."""
    size = (limits[1] - limits[0]) / CELLS
    counts: Counter[tuple[int, int]] = Counter()
    sides: Counter[tuple[int, int]] = Counter()
    for x, y in zip(drawing.x, drawing.y, strict=True):
        cell = (int((x - limits[0]) / size), int((y - limits[0]) / size))
        counts[cell] += 1
        sides[cell] += (y > x) - (y < x)
    runs: dict[tuple[str, float], list[list[int]]] = {}
    for row, column in sorted((row, column) for column, row in counts):
        side = sides[column, row] if drawing.higher_is_better else -sides[column, row]
        colour = BLUE if side > 0 else VERMILION if side < 0 else GREY
        alpha = max((least, level) for least, level in _LEVELS if counts[column, row] >= least)[1]
        found = runs.setdefault((colour, alpha), [])
        if found and found[-1][0] == row and found[-1][1] + found[-1][2] == column:
            found[-1][2] += 1
        else:
            found.append([row, column, 1])
    for (colour, alpha), found in sorted(runs.items()):
        start = limits[0]
        places: list[Box] = [(start + column * size, start + row * size, n * size, size) for row, column, n in found]
        boxes(axes, places, colour, alpha=alpha)
