"""The power curve of planned differences: a figure that stands by itself, and its table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankstats import wording
from rankstats.planning import PlannedDifference, PlannedEffect
from rankstats.report.delimited import delimited_text
from rankstats.report.figures_canvas import BLUE, HAIR, QUIET, VERMILION_TEXT, make_canvas, set_ticks
from rankstats.report.svg import inline_svg
from rankstats.report.texts import shown

Planned = PlannedDifference | PlannedEffect

COLUMNS = ("measure", "baseline", "system", "segment", "n", "power", "smallest_detectable")
UNIT_COLUMNS = ("measure", "baseline", "system", "units", "days", "power", "smallest_detectable")
MOST_CURVES = 6
"""Curves that one figure holds; the table holds all."""

_COLOURS = (BLUE, VERMILION_TEXT, "#00785a", "#8a4f7d", "#595959", "#9a6b00")
"""Shades of the Okabe–Ito colours that are dark enough for text and thin lines."""
_STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 3)))
_DIGITS = ((1, 2, 5), (1, 5), (1,))
_LETTERS_ACROSS = 70


def power_table(planned: Sequence[PlannedDifference]) -> str:
    """Return the curves as comma-separated values, one row a number of queries.

    Columns: measure, baseline, system, segment (``attribute=value``, empty for all queries), n, power for the wanted
    difference (empty where none is wanted), smallest_detectable.
    """
    return delimited_text(
        COLUMNS,
        (
            (row.measure, row.baseline, row.system, _segment(row), n, power, detectable)
            for row in planned
            for n, power, detectable in row.curve()
        ),
    )


def units_table(planned: Sequence[PlannedEffect]) -> str:
    """Return the curves of an experiment as comma-separated values, one row a number of units.

    Columns: measure, baseline, system, units of all arms, days until then (empty where unknown), power for the wanted
    effect (empty where none is wanted), smallest_detectable.
    """
    return delimited_text(
        UNIT_COLUMNS,
        (
            (row.measure, row.baseline, row.system, n, row.traffic.days_for(n), power, detectable)
            for row in planned
            for n, power, detectable in row.curve()
        ),
    )


def _segment(row: PlannedDifference) -> str | None:
    return None if row.segment is None else f"{row.segment['attribute']}={row.segment['value']}"


def power_svg(planned: Sequence[Planned]) -> str:
    """Return the curves as one SVG file: power where differences are wanted, else what can be detected.

    The numbers of queries, or of units, lie across.

    At most `MOST_CURVES` are drawn. Dots mark the numbers that are needed, and those at hand; bars show simulated power
    with its Monte Carlo interval.
    """
    rows = [row for row in planned if row.curve()][:MOST_CURVES]
    wanted = bool(rows) and all(row.difference is not None for row in rows)
    last = max([n for row in rows for n, _, _ in row.curve()[-1:]], default=None)
    labels = _labels(rows)
    legend = 20 * len(rows)
    canvas, axes = make_canvas(350 + legend, 64, 30, top=32 + legend, bottom=50, across=760)
    axes.set_xscale("log")
    for row, label, colour, style in zip(rows, labels, _COLOURS, _STYLES, strict=False):
        curve = row.curve(last)
        heights = [float(detectable if power is None or not wanted else power) for _, power, detectable in curve]
        sizes = [n for n, _, _ in curve]
        axes.plot(sizes, heights, color=colour, linestyle=style, linewidth=1.8, label=label, zorder=3)
        marked = {row.n, row.needed if wanted else None}
        points = [(n, height) for (n, _, _), height in zip(curve, heights, strict=True) if n in marked]
        axes.plot(*zip(*points, strict=True), "o", markersize=6, color=colour, zorder=4) if points else None
        found = row.simulated
        if wanted and row.n and found is not None and found.power_low is not None and found.power_high is not None:
            axes.plot([row.n] * 2, [found.power_low, found.power_high], color=colour, linewidth=4, alpha=0.5, zorder=2)
    _dress(axes, rows, wanted)
    what = "Power" if wanted else "Smallest detectable difference"
    text = inline_svg(canvas, "power", f"{what} by number of {planned[0].noun}", _description(rows, wanted))
    text = text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    text = text.replace("</desc>", '</desc><rect width="100%" height="100%" fill="#ffffff"/>', 1)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _dress(axes: Any, rows: Sequence[Planned], wanted: bool) -> None:
    """Put ticks, labels, legend and the line of the wanted power."""
    axes.set_xlabel(f"{rows[0].noun if rows else 'queries'} (logarithmic scale)", labelpad=6)
    axes.set_title("power" if wanted else "smallest detectable difference", loc="left", fontsize=12, color=QUIET, pad=6)
    axes.minorticks_off()
    sizes = [n for row in rows for n, _, _ in row.curve()]
    if sizes:
        axes.set_xlim(min(sizes), max(sizes))
        set_ticks(axes, _round_numbers(min(sizes), max(sizes)))
        legend_at = (0, 1.09)
        axes.legend(loc="lower left", bbox_to_anchor=legend_at, frameon=False, fontsize=12, borderaxespad=0)
    if not wanted:
        axes.set_ylim(bottom=0)
        return
    axes.set_ylim(0, 1.02)
    set_ticks(axes, [(share / 5, wording.number(share / 5, 1)) for share in range(6)], "y")
    for power in {row.terms.power for row in rows}:
        axes.axhline(power, color=HAIR, linewidth=1, zorder=1)


def _round_numbers(low: float, high: float) -> list[tuple[float, str]]:
    """Return round numbers between two with their labels, so many as have room beside each other."""
    shown: list[tuple[float, str]] = []
    for digits in _DIGITS:
        found = sorted(digit * 10**exponent for exponent in range(12) for digit in digits)
        shown = [(float(n), f"{n:,}") for n in found if low <= n <= high]
        if sum(len(text) + 2 for _, text in shown) <= _LETTERS_ACROSS:
            break
    return shown


def _labels(rows: Sequence[Planned]) -> list[str]:
    """Name each curve by what tells it from the others."""
    several = len({(row.baseline, row.system) for row in rows}) > 1
    labels = []
    for row in rows:
        parts = [row.measure or f"standard deviation {row.standard_deviation:g}"]
        parts += [] if row.segment is None else [str(row.segment["value"])]
        parts += [f"{row.system} against {row.baseline}"] if several else []
        parts += [] if row.difference is None else [f"difference {row.difference:g}"]
        labels.append(shown(", ".join(parts), 90))
    return labels


def _description(rows: Sequence[Planned], wanted: bool) -> str:
    told = []
    for row, label in zip(rows, _labels(rows), strict=True):
        if wanted and row.needed is not None:
            told.append(f"{label}: power {row.terms.power:g} at {row.needed:,} {row.noun}")
        elif row.n is not None and row.smallest_detectable is not None:
            told.append(f"{label}: {row.smallest_detectable:.3g} at {row.n:,} {row.noun}")
    return ". ".join(told) + "." if told else "No standard deviation is known."
