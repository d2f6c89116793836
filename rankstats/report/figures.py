"""The figures: drawings of the page model in one visual language. The only module that draws with matplotlib.

Blue is better, vermilion is worse, grey is not shown; every colour is doubled by a mark, a side and a word. The page's
style sheet finds the colours by their values and adapts them to a dark page.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.patches import Rectangle

from rankstats.report import blocks, drawings, tones
from rankstats.report.axis import value_axis
from rankstats.report.figures_canvas import (
    BAND,
    BLUE,
    CHARACTER,
    COLOURS,
    GREY,
    HAIR,
    INK,
    QUIET,
    ROW,
    SHAPES,
    VERMILION,
    VERMILION_TEXT,
    WIDTH,
    make_canvas,
    set_ticks,
)
from rankstats.report.figures_crossed import crossed
from rankstats.report.figures_queries import scatter, waterfall
from rankstats.report.svg import SETTINGS, inline_svg
from rankstats.report.texts import width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

GUIDED_FROM = 8
"""Forests of more rows get hairlines that lead the eye from label to mark."""
_LINE_BEFORE = 0.9
"""Height of a line of words above a row, in rows."""
_MARK = 16.0
"""Width of a mark beside a number."""
_TEXT_COLOURS = {tones.BETTER: BLUE, tones.WORSE: VERMILION_TEXT}


def figure_svg(figure: blocks.Figure) -> str:
    """Return a figure of the page model as one accessible ``<svg>`` element, the same bytes every time."""
    with mpl.rc_context(SETTINGS):
        canvas = draw(figure.drawing)
    return inline_svg(canvas, figure.key, figure.title, figure.description)


def draw(drawing: drawings.Drawing) -> Canvas:
    """Return a drawing of the page model on a canvas of its own; call it under the settings of `svg`."""
    if isinstance(drawing, drawings.Forest):
        return _forest(drawing)
    if isinstance(drawing, drawings.OutcomeBars):
        return _outcomes(drawing)
    if isinstance(drawing, drawings.Waterfall):
        return waterfall(drawing)
    if isinstance(drawing, drawings.Scatter):
        return scatter(drawing)
    if isinstance(drawing, drawings.Crossed):
        return crossed(drawing)
    return _distribution(drawing)


# ── forest ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _forest(drawing: drawings.Forest) -> Canvas:
    rows = drawing.rows
    # The label column takes what the longest label needs, the texts on the right are measured the same way.
    left = min(330.0, 24 + CHARACTER * max(width(row.label) for row in rows))
    texts = _right_texts(drawing)
    widths = [CHARACTER * max(width(text) for text in column) + 16 for column in zip(*texts, strict=True)]
    widths[1] += _MARK
    positions = _positions(rows)
    height = 30 + ROW * (positions[-1] + 1) + 46
    canvas, axes = make_canvas(height, left, sum(widths) + 10, top=30, bottom=46)
    axes.set_ylim(positions[-1] + 0.5, -0.5)
    _forest_axes(axes, drawing)
    for y in positions if len(rows) > GUIDED_FROM else ():
        axes.axhline(y, color=BAND, linewidth=1, zorder=0)
    mark_at = WIDTH - sum(widths[2:]) - CHARACTER * max(width(row.difference) for row in rows) - 8
    for row, y, line in zip(rows, positions, texts[1:], strict=True):
        _estimate(axes, row, y, drawing.axis)
        bold = "bold" if y == 0 and drawing.reference is not None else "normal"
        canvas.text(0, _y(axes, y), row.label, ha="left", va="center", color=INK, fontweight=bold)
        colour = _TEXT_COLOURS.get(row.tone, GREY)
        canvas.text(mark_at / WIDTH, _y(axes, y), tones.MARKS[row.tone], ha="right", va="center", color=colour)
        _right(canvas, line, widths, _y(axes, y), _TEXT_COLOURS.get(row.tone, INK))
        _words_before(canvas, axes, row, y)
    _right(canvas, texts[0], widths, 1 - 13 / height, QUIET, size=12)
    return canvas


def _positions(rows: Sequence[drawings.ForestRow | drawings.OutcomeBar]) -> list[float]:
    """Return where rows stand: a little space before a group, a line before a row with words above it."""
    found: list[float] = []
    place = -1.0
    for row in rows:
        place += 1.0 + (_LINE_BEFORE if row.before else 0.35 if getattr(row, "first", False) else 0.0)
        found.append(place)
    return found


def _words_before(canvas: Canvas, axes: Axes, row: drawings.ForestRow | drawings.OutcomeBar, y: float) -> None:
    if row.before:
        words = f"… {row.before} …"
        canvas.text(0, _y(axes, y - 0.5 - _LINE_BEFORE / 2), words, ha="left", va="center", color=QUIET, fontsize=12)


def _forest_axes(axes: Axes, drawing: drawings.Forest) -> None:
    """Set the axis of differences and draw what all rows share: zero, the margin, the overall effect."""
    axes.set_xlim(drawing.axis.low, drawing.axis.high)
    axes.yaxis.set_visible(False)
    set_ticks(axes, drawing.axis.ticks)
    _sides(axes, drawing)
    if drawing.margin:
        axes.axvspan(-drawing.margin, drawing.margin, color=BAND, linewidth=0, zorder=0)
    axes.axvline(0, color=INK, linewidth=1, zorder=1)
    if drawing.reference is not None and len(drawing.rows) > 1:
        axes.axvline(drawing.reference, color=QUIET, linewidth=1, linestyle=(0, (3, 3)), zorder=1)


def _right_texts(drawing: drawings.Forest) -> list[tuple[str, ...]]:
    """Return the columns beside the axes, headings first; an interval stands beside the p-value made with it."""
    adjusted = any(row.adjusted for row in drawing.rows)
    tested = any(row.p for row in drawing.rows)
    heads = ["p"] * tested + [drawing.p_label] * adjusted
    lines: list[tuple[str, ...]] = [("n", "difference", drawing.interval_label, *heads)]
    for row in drawing.rows:
        ps = (row.own_p, row.p) if adjusted else (row.p,) * tested
        lines.append((row.n, row.difference, row.interval, *ps))
    return lines


def _right(
    canvas: Canvas, texts: Sequence[str], widths: Sequence[float], y: float, colour: str, *, size: float = 13
) -> None:
    """Write texts right-aligned into the columns beside the axes; the difference takes the tone's colour."""
    edge = WIDTH - sum(widths)
    for i, (text, column) in enumerate(zip(texts, widths, strict=True)):
        edge += column
        ink = colour if i == 1 or colour == QUIET else INK
        canvas.text(edge / WIDTH, y, text, ha="right", va="center", color=ink, fontsize=size)


def _y(axes: Axes, position: float) -> float:
    """Return the height of a row as a fraction of the canvas."""
    low, high = axes.get_ylim()
    box = axes.get_position()
    return float(box.y0 + box.height * (position - low) / (high - low))


def _sides(axes: Axes, drawing: drawings.Forest) -> None:
    axes.set_xlabel(drawing.axis_label, labelpad=6)
    for offset, text, align in zip((-6, 6), drawing.sides, ("right", "left"), strict=True):
        axes.annotate(
            text, (0, 1), (offset, 10), xycoords=("data", "axes fraction"), textcoords="offset points",
            ha=align, va="center", color=QUIET, fontsize=12, annotation_clip=False,
        )  # fmt: skip


def _estimate(axes: Axes, row: drawings.ForestRow, y: float, axis: drawings.Axis) -> None:
    colour = COLOURS[row.tone]
    thin = row.tone == tones.TOO_FEW
    for interval, thickness, cap in ((row.outer, 1.2, True), (row.inner, 3.2, False)):
        if interval is not None:
            _whisker(axes, interval, y, axis, colour, thickness=1.2 if thin else thickness, cap=cap)
    if row.value is not None and axis.low <= row.value <= axis.high:
        face = "#ffffff" if row.tone in tones.HOLLOW else colour
        axes.plot(
            [row.value], [y], marker=SHAPES[row.tone], markersize=9, markerfacecolor=face, markeredgecolor=colour,
            markeredgewidth=1.5, linestyle="none", zorder=4, clip_on=False,
        )  # fmt: skip


def _whisker(
    axes: Axes,
    interval: tuple[float, float],
    y: float,
    axis: drawings.Axis,
    colour: str,
    *,
    thickness: float,
    cap: bool,
) -> None:
    """Draw an interval; an end beyond the axis becomes an arrow, an end within it a cap."""
    low, high = max(interval[0], axis.low), min(interval[1], axis.high)
    if low > high:
        return
    axes.plot([low, high], [y, y], color=colour, linewidth=thickness, solid_capstyle="butt", zorder=3)
    for end, shown, arrow in ((interval[0], low, "<"), (interval[1], high, ">")):
        if end != shown:
            axes.plot([shown], [y], marker=arrow, markersize=7, color=colour, zorder=3, clip_on=False)
        elif cap:
            axes.plot([shown], [y], marker="|", markersize=8, color=colour, markeredgewidth=1.2, zorder=3)


# ── better, equal, worse ────────────────────────────────────────────────────────────────────────────────────────────


def _outcomes(drawing: drawings.OutcomeBars) -> Canvas:
    """Draw a bar a comparison; the counts stand beside it in columns, whose headings are the key."""
    rows = drawing.rows
    left = min(330.0, 24 + CHARACTER * max(width(row.label) for row in rows))
    texts = [tuple(f"{n:,}" for n in (row.better, row.equal, row.worse)) for row in rows]
    heads = (f"▲ {drawing.words[0]}", drawing.words[1], f"▼ {drawing.words[2]}")
    widths = [CHARACTER * max(map(width, column)) + 24 for column in zip(heads, *texts, strict=True)]
    positions = _positions(rows)
    height = 34 + (ROW + 6) * (positions[-1] + 1) + 8
    canvas, axes = make_canvas(height, left, sum(widths) + 10, top=34, bottom=8)
    axes.spines["bottom"].set_visible(False)
    axes.xaxis.set_visible(False)
    axes.yaxis.set_visible(False)
    axes.set_xlim(0, 1)
    axes.set_ylim(positions[-1] + 0.5, -0.5)
    for position, row, line in zip(positions, rows, texts, strict=True):
        _bar(axes, position, row)
        canvas.text(0, _y(axes, position), row.label, ha="left", va="center", color=INK)
        _right(canvas, line, widths, _y(axes, position), INK)
        _words_before(canvas, axes, row, position)
    _outcome_heads(canvas, heads, widths, height)
    return canvas


def _outcome_heads(canvas: Canvas, heads: Sequence[str], widths: Sequence[float], height: float) -> None:
    """Head the counts in the colours of the bars; the pale one, in which no text could be read, as a patch."""
    y, edge = 1 - 15 / height, WIDTH - sum(widths)
    for text, column, colour in zip(heads, widths, (BLUE, QUIET, VERMILION_TEXT), strict=True):
        edge += column
        canvas.text(edge / WIDTH, y, text, ha="right", va="center", color=colour, fontsize=12)
        if colour == QUIET:
            x = edge - CHARACTER * width(text) - 14
            patch = Rectangle((x / WIDTH, y - 5 / height), 10 / WIDTH, 10 / height, facecolor=HAIR, linewidth=0)
            canvas.add_artist(patch)


def _bar(axes: Axes, position: float, row: drawings.OutcomeBar) -> None:
    """Draw one stacked bar."""
    total = max(1, row.better + row.equal + row.worse)
    start = 0.0
    for n, colour in ((row.better, BLUE), (row.equal, HAIR), (row.worse, VERMILION)):
        if n:
            axes.barh(position, n / total, left=start, height=0.72, color=colour, linewidth=0)
        start += n / total


# ── resampling ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _distribution(drawing: drawings.Distribution) -> Canvas:
    canvas, axes = make_canvas(210, 36, 36, top=14, bottom=46)
    top = max(drawing.counts) or 1
    axis = value_axis((*drawing.edges, drawing.observed))
    axes.set_xlim(axis.low, axis.high)
    axes.set_ylim(-0.16 * top, 1.12 * top)
    axes.yaxis.set_visible(False)
    set_ticks(axes, axis.ticks)
    axes.stairs(drawing.counts, drawing.edges, fill=True, color=HAIR, linewidth=0)
    axes.axvline(0, color=INK, linewidth=1)
    colour = COLOURS[drawing.tone]
    if drawing.interval is not None and all(math.isfinite(end) for end in drawing.interval):
        _whisker(axes, drawing.interval, -0.08 * top, axis, colour, thickness=3.2, cap=True)
    axes.plot(
        [drawing.observed], [-0.08 * top], color=colour, marker=SHAPES[drawing.tone], markersize=9,
        markerfacecolor="#ffffff" if drawing.tone in tones.HOLLOW else colour, zorder=4,
    )  # fmt: skip
    axes.plot([drawing.observed] * 2, [0, 1.05 * top], color=colour, linewidth=1.5, linestyle=(0, (3, 3)))
    axes.set_xlabel(drawing.axis_label, labelpad=6)
    return canvas
