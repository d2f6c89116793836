"""Figures: accessible SVG that a strict policy leaves intact, the same bytes every time."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstats.report import blocks
from rankstats.report.axis import difference_axis
from rankstats.report.figures import figure_svg
from rankstats.report.html import template_text
from rankstats.report.model import page_model
from rankstats.report.strips import strip
from tests.report.sample import sample_report


def figures() -> list[blocks.Figure]:
    page = page_model(sample_report())
    return [b for section in page.sections for b in section.blocks if isinstance(b, blocks.Figure)]


def row(value: float | None, inner: tuple[float, float] | None, tone: str = "better") -> blocks.ForestRow:
    return blocks.ForestRow("a", "a", "50", "", "", "", "", "", "spoken", False, tone, value, inner, None)


@pytest.mark.parametrize("figure", figures(), ids=lambda f: f.key)
def test_a_figure_is_accessible_and_has_no_style(figure: blocks.Figure) -> None:
    svg = figure_svg(figure)
    root = ET.fromstring(svg)
    assert root.attrib["role"] == "img"
    named = {element.attrib.get("id"): element.text for element in root}
    assert [named[key] for key in root.attrib["aria-labelledby"].split()] == [figure.title, figure.description]
    assert figure.table is not None
    for element in root.iter():
        assert element.tag not in {"style", "script", "metadata"}
        assert "style" not in element.attrib
        if "id" in element.attrib:
            assert element.attrib["id"].startswith(f"{figure.key}-")
    assert svg == figure_svg(figure)


def test_text_stays_text_and_dollars_are_no_formulas() -> None:
    report = sample_report(names=["<b>", "$a_1$ & co", "日本語 کتاب"])
    page = page_model(report)
    drawn = next(b for s in page.sections for b in s.blocks if isinstance(b, blocks.Figure))
    texts = [element.text for element in ET.fromstring(figure_svg(drawn)).iter("text")]
    assert "$a_1$ & co" in texts
    assert any("日本語" in (text or "") for text in texts)


@pytest.mark.parametrize("n", [501, 20_000])
def test_many_queries_are_counted_in_cells(n: int) -> None:
    """Small whatever the number of queries, and no image: a policy without data: images would blank it."""
    rng = np.random.default_rng(3)
    x = rng.beta(2, 2, n)
    y = np.clip(x + rng.normal(0, 0.2, n), 0, 1)
    drawing = blocks.Scatter(tuple(x.tolist()), tuple(y.tolist()), "a", "b")
    svg = figure_svg(blocks.Figure("s", "t", "d", drawing))
    assert "<image" not in svg
    assert "<use" in svg
    assert len(svg) < 60_000
    drawing = blocks.Scatter(tuple(x[:500].tolist()), tuple(y[:500].tolist()), "a", "b")
    few = figure_svg(blocks.Figure("s", "t", "d", drawing))
    assert few.count("<use") > 500 > svg.count("<use")


def test_a_cell_takes_the_side_of_most_of_its_queries() -> None:
    below = [(0.9, 0.1)] * 300
    above = [(0.1, 0.9)] * 300
    x, y = zip(*below, *above, *[(0.1, 0.9), (0.9, 0.1)], strict=True)
    svg = figure_svg(blocks.Figure("s", "t", "d", blocks.Scatter(x, y, "a", "b")))
    cells = re.findall(r'<path d="(M[^"]*)"[^>]*fill="(#0072b2|#d55e00)"', svg)
    assert [colour for _, colour in cells] == ["#0072b2", "#d55e00"]
    turned = figure_svg(blocks.Figure("s", "t", "d", blocks.Scatter(x, y, "a", "b", higher_is_better=False)))
    other = re.findall(r'<path d="(M[^"]*)"[^>]*fill="(#0072b2|#d55e00)"', turned)
    assert dict(other) == {cells[0][0]: "#d55e00", cells[1][0]: "#0072b2"}


def test_colours_are_those_that_the_style_sheet_adapts() -> None:
    style = template_text("style.css")
    for figure in figures():
        for colour in set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', figure_svg(figure))):
            assert colour in style or colour == "#000000", colour


@given(
    st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(0, 1e3), st.floats(0, 1e3)), min_size=1, max_size=8),
)
def test_an_axis_holds_zero_and_every_estimate(rows: list[tuple[float, float, float]]) -> None:
    made = [row(v, (v - a, v + b)) for v, a, b in rows]
    axis = difference_axis(made)
    assert axis.low < axis.high
    assert axis.low <= 0 <= axis.high
    assert all(axis.low <= r.value <= axis.high for r in made if r.value is not None)
    assert 2 <= len(axis.ticks) <= 12
    assert all(axis.low <= tick <= axis.high for tick, _ in axis.ticks)
    assert len({text for _, text in axis.ticks}) == len(axis.ticks)


def test_intervals_beyond_the_axis_end_in_arrows() -> None:
    overall, wide = row(0.02, (0.01, 0.03)), row(0.02, (-math.inf, 5.0), blocks.TOO_FEW)
    axis = difference_axis([overall, wide])
    forest = blocks.Forest((overall, wide), axis, "d", "p")
    drawn = strip(wide, forest)
    assert drawn.inner is not None
    assert (drawn.inner.low_arrow, drawn.inner.high_arrow, drawn.hollow) == (True, True, True)
    inside = strip(overall, forest)
    assert inside.inner is not None
    assert (inside.inner.low_arrow, inside.inner.high_arrow, inside.hollow) == (False, False, False)


def test_nothing_to_draw_is_still_drawn() -> None:
    empty = row(None, None, blocks.NOT_SHOWN)
    forest = blocks.Forest((empty,), difference_axis([empty]), "d", "p")
    assert "<svg" in figure_svg(blocks.Figure("e", "t", "d", forest))
    flat = blocks.Waterfall((0.0, 0.0), "d")
    assert "<svg" in figure_svg(blocks.Figure("w", "t", "d", flat))
    same = blocks.Scatter((0.5, 0.5), (0.5, 0.5), "a", "b")
    assert "<svg" in figure_svg(blocks.Figure("c", "t", "d", same))
