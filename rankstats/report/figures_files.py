"""The figures of a report as files of their own: SVG, PNG, PDF."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas

from rankstats.errors import PlanError, did_you_mean
from rankstats.report import blocks
from rankstats.report.figures import draw
from rankstats.report.model import page_model
from rankstats.report.svg import PIXELS_PER_INCH, SETTINGS

FORMATS = ("svg", "png", "pdf")
_SHARPNESS = 2
"""Pixels of a PNG for a pixel of the page."""
_WITHOUT_DATE: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}


def figure_files(report: Mapping[str, Any], formats: Sequence[str] = FORMATS) -> dict[str, bytes]:
    """Return every figure of the page as files by name, on white, the same bytes every time.

    Parameters
    ----------
    report : mapping
        The content of a report.json.
    formats : sequence of str
        Out of 'svg', 'png', 'pdf'.

    Raises
    ------
    PlanError
        If a format is another one.
    """
    for name in formats:
        if name not in FORMATS:
            raise PlanError(f"{name!r} is no format of figures ({', '.join(FORMATS)})" + did_you_mean(name, FORMATS))
    files: dict[str, bytes] = {}
    for figure in _figures(page_model(report)):
        with mpl.rc_context(SETTINGS):
            canvas = draw(figure.drawing)
            for name in formats:
                files[f"{figure.key}.{name}"] = _saved(canvas, name, figure.title)
    return files


def _figures(page: blocks.Page) -> Iterator[blocks.Figure]:
    for section in page.sections:
        yield from (block for block in section.blocks if isinstance(block, blocks.Figure))


def _saved(canvas: Canvas, name: str, title: str) -> bytes:
    stream = io.BytesIO()
    metadata = {"Title": title.replace("\N{REPLACEMENT CHARACTER}", "?"), **_WITHOUT_DATE[name]}
    dpi = PIXELS_PER_INCH * (_SHARPNESS if name == "png" else 1)
    with warnings.catch_warnings():
        # A glyph that matplotlib's font lacks is a box in the picture; the page and the SVG have the text itself.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        canvas.savefig(stream, format=name, dpi=dpi, facecolor="#ffffff", metadata=metadata)
    return stream.getvalue()
