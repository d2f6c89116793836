"""What all figures share: one set of colours, marks and sizes, and axes without a frame."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FixedFormatter, FixedLocator

from rankstats.report import tones
from rankstats.report.svg import PIXELS_PER_INCH

BLUE, VERMILION, GREY = "#0072b2", "#d55e00", "#767676"
INK, QUIET, HAIR, BAND = "#1a1a1a", "#595959", "#c8c8c8", "#ececec"
COLOURS = {
    tones.BETTER: BLUE,
    tones.WORSE: VERMILION,
    tones.NOT_SHOWN: GREY,
    tones.EQUIVALENT: GREY,
    tones.WITHHELD: GREY,
    tones.TOO_FEW: GREY,
    tones.HIGHER: GREY,
    tones.LOWER: GREY,
    tones.NOT_TESTED: GREY,
}
SHAPES = {
    tones.BETTER: "^",
    tones.WORSE: "v",
    tones.NOT_SHOWN: "o",
    tones.EQUIVALENT: "D",
    tones.WITHHELD: "s",
    tones.TOO_FEW: "o",
    tones.HIGHER: "^",
    tones.LOWER: "v",
    tones.NOT_TESTED: ".",
}
VERMILION_TEXT = "#b34a00"
"""Vermilion as text: dark enough to be read on white."""

WIDTH = 1040
ROW = 28
CHARACTER = 7.2
"""Width of an average character at the size of the figures' text."""

Box = tuple[float, float, float, float]
"""Left, top, width and height in the units of the axes."""


def make_canvas(
    height: float, left: float, right: float, *, top: float, bottom: float, across: float = WIDTH
) -> tuple[Canvas, Axes]:
    """Return a canvas of `across` × `height` pixels with axes inside the given margins, without a frame."""
    canvas = Canvas(figsize=(across / PIXELS_PER_INCH, height / PIXELS_PER_INCH), dpi=PIXELS_PER_INCH)
    box = (left / across, bottom / height, (across - left - right) / across, (height - top - bottom) / height)
    axes = canvas.add_axes(box)
    axes.patch.set_visible(False)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(HAIR)
    axes.spines["bottom"].set_linewidth(1)
    axes.tick_params(colors=QUIET, labelcolor=QUIET, length=4, width=1, color=HAIR, labelsize=12)
    axes.xaxis.label.set_color(QUIET)
    axes.xaxis.label.set_fontsize(12)
    return canvas, axes


def set_ticks(axes: Axes, ticks: Sequence[tuple[float, str]], side: str = "x") -> None:
    """Put ticks with their labels on one side."""
    axis = axes.xaxis if side == "x" else axes.yaxis
    axis.set_major_locator(FixedLocator([value for value, _ in ticks]))
    axis.set_major_formatter(FixedFormatter([text for _, text in ticks]))


def boxes(axes: Axes, places: Sequence[Box], colour: str, *, alpha: float = 1.0) -> None:
    """Draw filled boxes as one path: thousands of cells cost one element."""
    if not places:
        return
    steps = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    corners = [corner for x, y, w, h in places for corner in ((x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y))]
    path = Path(corners, steps * len(places))
    axes.add_patch(PathPatch(path, facecolor=colour, linewidth=0, alpha=None if alpha == 1 else alpha))
