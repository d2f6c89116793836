"""The figure of every system against every other: cells with marks, or a map of cells where there are many."""

from __future__ import annotations

import math
from itertools import groupby

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from rankstats.report import drawings, tones
from rankstats.report.figures_canvas import (
    BAND,
    BLUE,
    CHARACTER,
    GREY,
    INK,
    QUIET,
    VERMILION,
    VERMILION_TEXT,
    WIDTH,
    Box,
    boxes,
    make_canvas,
)
from rankstats.report.texts import label, width

MARKED = 24
"""Cells of more systems are too small for a mark."""
_CELL = 30.0
_WIDEST = 92.0
_HIGHEST = 720.0
"""Height of a map of cells: what a screen holds."""
_LINE = 14.0
"""Height of a line of small text."""
_TOP = 52.0
_FILLS = {tones.BETTER: BLUE, tones.WORSE: VERMILION}
_INKS = {tones.BETTER: "#ffffff", tones.WORSE: "#000000"}


def crossed(drawing: drawings.Crossed) -> Canvas:
    """Return the figure: a row and a column for each system, the best first."""
    n = len(drawing.labels)
    marked = n <= MARKED
    left = min(330.0, 52 + CHARACTER * max(width(text) for text in drawing.labels))
    across, down = _cell_size(n, left, written=bool(drawing.texts))
    canvas, axes = make_canvas(
        _TOP + n * down + 6, left, 6, top=_TOP, bottom=6, across=max(WIDTH, left + n * across + 6)
    )
    # the axes begin at the left edge of the cells and may be wider than they are
    axes.set_xlim(0, (axes.get_position().width * canvas.get_figwidth() * canvas.dpi) / across)
    axes.set_ylim(n, 0)
    axes.spines["bottom"].set_visible(False)
    axes.xaxis.set_visible(False)
    axes.yaxis.set_visible(False)
    gap = 0.5 if marked else 0.0
    for tone, places in _runs(drawing.tones, joined=not marked, gap=(gap / across, gap / down)).items():
        boxes(axes, places, _FILLS.get(tone, BAND))
    if marked:
        _marks(axes, drawing)
    _names(axes, drawing, across, down)
    _key(canvas, left, {tone for line in drawing.tones for tone in line}, marked=marked)
    return canvas


def _cell_size(n: int, left: float, *, written: bool) -> tuple[float, float]:
    """Return width and height of a cell in pixels."""
    room = (WIDTH - left - 6) / n
    if written:
        return min(_WIDEST, room), _CELL
    side = min(_CELL, room) if n <= MARKED else max(1.5, min(14.0, room, _HIGHEST / n))
    return side, side


def _runs(tones: tuple[tuple[str, ...], ...], *, joined: bool, gap: tuple[float, float]) -> dict[str, list[Box]]:
    """Return the boxes of each tone; neighbours in a row of one tone are one box where they are joined."""
    found: dict[str, list[Box]] = {}
    across, down = gap
    for i, line in enumerate(tones):
        start = 0
        for tone, group in groupby(line):
            length = len(list(group))
            if tone:
                parts = [(start, length)] if joined else [(start + k, 1) for k in range(length)]
                places = [(j + across, i + down, size - 2 * across, 1 - 2 * down) for j, size in parts]
                found.setdefault(_kind(tone), []).extend(places)
            start += length
    return dict(sorted(found.items()))


def _kind(tone: str) -> str:
    return tone if tone in _FILLS else ""


def _marks(axes: Axes, drawing: drawings.Crossed) -> None:
    for i, line in enumerate(drawing.tones):
        for j, tone in enumerate(line):
            if tone:
                text = tones.MARKS[tone] + (f" {drawing.texts[i][j]}" if drawing.texts else "")
                colour = _INKS.get(tone, QUIET if drawing.texts else GREY)
                axes.text(j + 0.5, i + 0.5, text, ha="center", va="center_baseline", color=colour, fontsize=12)


def _names(axes: Axes, drawing: drawings.Crossed, across: float, down: float) -> None:
    """Number the rows and name them; columns have names where these fit, else the numbers of the rows."""
    n = len(drawing.labels)
    step = math.ceil(_LINE / down)
    for i in range(0, n, step):
        text = f"{i + 1}  {drawing.labels[i]}"
        axes.annotate(
            text, (0, i + 0.5), (-6, 0), textcoords="offset points", ha="right", va="center_baseline", color=INK,
            fontsize=13 if down >= 20 else 11, annotation_clip=False,
        )  # fmt: skip
    fitting = int(across / CHARACTER) - 1
    named = drawing.texts and fitting > 5
    columns = range(n) if across >= 20 else [i for i in range(n) if i == 0 or (i + 1) % _column_step(across) == 0]
    for j in columns:
        text = label(drawing.labels[j], fitting) if named else f"{j + 1}"
        axes.annotate(
            text, (j + 0.5, 0), (0, 9), textcoords="offset points", ha="center", va="center_baseline", color=QUIET,
            fontsize=12 if down >= 20 else 11, annotation_clip=False,
        )  # fmt: skip


def _column_step(across: float) -> int:
    """Return the step of the numbers over the columns: round, and wide enough for three digits."""
    return next(step for step in (5, 10, 20, 50, 100, 200, 500, 1000) if step * across >= 36 or step == 1000)


def _key(canvas: Canvas, left: float, drawn: set[str], *, marked: bool) -> None:
    """Explain colours and marks in one line above the columns."""
    across, height = (float(side) * canvas.dpi for side in canvas.get_size_inches())
    pale = [t for t in tones.PALE if t in drawn]
    directed = not drawn & {tones.HIGHER, tones.LOWER}
    parts = [("▲ row better", BLUE), ("▼ row worse", VERMILION_TEXT)] if directed else []
    if marked:
        parts += [(f"{tones.MARKS[t]} {tones.WORDS[t]}", QUIET) for t in pale]
    elif pale:
        parts.append((f"pale: {' or '.join(tones.WORDS[t] for t in pale)}", QUIET))
    x = left
    for text, colour in parts:
        canvas.text(x / across, 1 - 12 / height, text, ha="left", va="center", color=colour, fontsize=12)
        x += CHARACTER * (width(text) + 3)
