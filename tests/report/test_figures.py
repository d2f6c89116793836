"""Figures: accessible SVG that a strict policy leaves intact, the same bytes every time."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstats.report import blocks, drawings, tones
from rankstats.report.axis import difference_axis, value_axis
from rankstats.report.figures import figure_svg
from rankstats.report.figures_canvas import BAND, BLUE, GREY, HAIR, INK, QUIET, VERMILION
from rankstats.report.html import render_html, template_text
from rankstats.report.model import page_model
from rankstats.report.strips import strip, ticks
from tests.report.sample import sample_report


def figures() -> list[blocks.Figure]:
    page = page_model(sample_report())
    return [b for section in page.sections for b in section.blocks if isinstance(b, blocks.Figure)]


def row(value: float | None, inner: tuple[float, float] | None, tone: str = "better") -> drawings.ForestRow:
    return drawings.ForestRow("a", "a", "50", "", "", "", "", "", "spoken", False, tone, value, inner, None)


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
    drawing = drawings.Scatter(tuple(x.tolist()), tuple(y.tolist()), "a", "b")
    svg = figure_svg(blocks.Figure("s", "t", "d", drawing))
    assert "<image" not in svg
    assert "<use" in svg
    assert len(svg) < 60_000
    drawing = drawings.Scatter(tuple(x[:500].tolist()), tuple(y[:500].tolist()), "a", "b")
    few = figure_svg(blocks.Figure("s", "t", "d", drawing))
    assert few.count("<use") > 500 > svg.count("<use")


def test_a_cell_takes_the_side_of_most_of_its_queries() -> None:
    below = [(0.9, 0.1)] * 300
    above = [(0.1, 0.9)] * 300
    x, y = zip(*below, *above, *[(0.1, 0.9), (0.9, 0.1)], strict=True)
    svg = figure_svg(blocks.Figure("s", "t", "d", drawings.Scatter(x, y, "a", "b")))
    cells = re.findall(r'<path d="(M[^"]*)"[^>]*fill="(#0072b2|#d55e00)"', svg)
    assert [colour for _, colour in cells] == ["#0072b2", "#d55e00"]
    turned = figure_svg(blocks.Figure("s", "t", "d", drawings.Scatter(x, y, "a", "b", higher_is_better=False)))
    other = re.findall(r'<path d="(M[^"]*)"[^>]*fill="(#0072b2|#d55e00)"', turned)
    assert dict(other) == {cells[0][0]: "#d55e00", cells[1][0]: "#0072b2"}


def every_drawing() -> list[blocks.Figure]:
    """Return the figures of a page, and drawings of every kind that it lacks."""
    rows = tuple(row(0.01 * k, (-0.1, 0.1), tone) for k, tone in enumerate(list(tones.MARKS) * 2))
    forest = drawings.Forest(rows, difference_axis(rows), "d", "p", margin=0.01, reference=0.02)
    bars = drawings.OutcomeBars((drawings.OutcomeBar("a", 3, 2, 1),), "queries")
    cells = tuple(tones.MARKS)[:3]
    crossed = drawings.Crossed(("a", "b", "c"), (cells, cells, cells), (("+1",) * 3,) * 3)
    points = drawings.Scatter((0.1, 0.2, 0.3), (0.3, 0.2, 0.1), "a", "b")
    made = (forest, bars, drawings.Waterfall((0.2, 0.0, -0.1), "d"), points, crossed)
    return [*figures(), *(blocks.Figure(f"k{i}", "t", "d", drawing) for i, drawing in enumerate(made))]


def test_every_colour_of_a_drawing_has_its_rule_for_a_dark_page() -> None:
    style = template_text("style.css")
    used = {
        (name, colour)
        for figure in every_drawing()
        for name, colour in re.findall(r' (fill|stroke)="(#[0-9a-f]{6})"', figure_svg(figure))
    }
    ruled = set(re.findall(r'svg\.figure (?:text)?\[(fill|stroke)="(#[0-9a-f]{6})"\] \{ \1: var', style))
    assert not used - ruled
    canvas = {BLUE, VERMILION, GREY, INK, QUIET, HAIR, BAND}
    assert canvas <= {colour for _, colour in used}


def test_a_shape_that_is_used_has_no_colour_of_its_own() -> None:
    """A rule of the page does not reach a shape in `<defs>`; it reaches what uses it."""
    for figure in every_drawing():
        root = ET.fromstring(figure_svg(figure))
        parents = {child: parent for parent in root.iter() for child in parent}
        for shape in root.iterfind(".//defs/path"):
            assert not {"fill", "stroke"} & set(shape.attrib)
        for use in root.iter("use"):
            assert "stroke" in use.attrib or "stroke" in parents[use].attrib or "fill" in use.attrib


def test_the_words_of_the_sides_stand_above_the_bars_and_count_as_the_page_does() -> None:
    svg = figure_svg(blocks.Figure("w", "t", "d", drawings.Waterfall((0.5, 0.4, 1e-12, 0.0), "d", tolerance=1e-9)))
    texts = [element.text or "" for element in ET.fromstring(svg).iter("text")]
    assert "▲ 2 better" in texts
    assert not [text for text in texts if "worse" in text]


@pytest.mark.parametrize("values", [(0.63, -0.14), (0.9, -0.02), (-0.3, -0.1), (0.001, -1.0), (0.0, 0.0)])
def test_each_side_that_has_values_has_a_tick(values: tuple[float, float]) -> None:
    axis = value_axis(values)
    ticks = [value for value, _ in axis.ticks]
    span = max(*values, 0.0) - min(*values, 0.0)
    for side in (1, -1):
        if max(side * value for value in values) > 0.01 * span:
            assert any(side * tick > 0 for tick in ticks), values
    assert len({len(text.partition(".")[2]) for _, text in axis.ticks if text != "0"}) <= 1
    assert all(axis.low <= value <= axis.high for value in (*values, *ticks))


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
    # a narrow cell has a scale: zero and another tick
    kinds = [tick.kind for tick in ticks(axis)]
    assert kinds.count("zero") == 1
    assert len(kinds) > 1 + kinds.count("minor")


def test_intervals_beyond_the_axis_end_in_arrows() -> None:
    overall, wide = row(0.02, (0.01, 0.03)), row(0.02, (-math.inf, 5.0), tones.TOO_FEW)
    axis = difference_axis([overall, wide])
    forest = drawings.Forest((overall, wide), axis, "d", "p")
    drawn = strip(wide, forest)
    assert drawn.inner is not None
    assert (drawn.inner.low_arrow, drawn.inner.high_arrow, drawn.hollow) == (True, True, True)
    inside = strip(overall, forest)
    assert inside.inner is not None
    assert (inside.inner.low_arrow, inside.inner.high_arrow, inside.hollow) == (False, False, False)


def test_nothing_to_draw_is_still_drawn() -> None:
    empty = row(None, None, tones.NOT_SHOWN)
    forest = drawings.Forest((empty,), difference_axis([empty]), "d", "p")
    assert "<svg" in figure_svg(blocks.Figure("e", "t", "d", forest))
    flat = drawings.Waterfall((0.0, 0.0), "d")
    assert "<svg" in figure_svg(blocks.Figure("w", "t", "d", flat))
    same = drawings.Scatter((0.5, 0.5), (0.5, 0.5), "a", "b")
    assert "<svg" in figure_svg(blocks.Figure("c", "t", "d", same))


def test_narrow_forms_show_both_sides_and_all_counts() -> None:
    bar = drawings.OutcomeBar("a", 30, 10, 60)
    parts = [(part.start, part.width) for part in strip(bar)]
    assert parts == [("0.00%", "30.00%"), ("30.00%", "10.00%"), ("40.00%", "60.00%")]
    assert len(strip(drawings.OutcomeBar("a", 0, 0, 0))) == 0
    many = tuple(i / 1000 for i in range(1000, -4000, -1))
    profile = strip(drawings.Waterfall(many, "d"))
    assert [text for text, _ in profile.sides] == ["▲ 1,000 better", "3,999 worse ▼"]
    assert all(len(path) < 2500 for path, _ in profile.paths)
    shape = strip(drawings.Distribution((0.1, 0.2, 0.3), (4, 2), 0.2, (0.12, math.inf), "better", "d"))
    assert shape.marks.inner is None
    assert shape.marks.point == shape.marks.reference


def test_a_page_draws_every_figure_for_a_narrow_window_too() -> None:
    html = render_html(sample_report())
    for shape in ("forest", "outcomes", "waterfall", "distribution"):
        found = re.search(rf'<figure id="[^"]*" class="{shape}">(.*?)</figure>', html, re.DOTALL)
        assert found is not None
        assert '<div class="narrow' in found[1]
        assert '<div class="scroll broad"' in found[1]
    key = re.search(r'<p class="key">(.*?)</p>', html)
    assert key is not None
    assert "thin:\N{NO-BREAK SPACE}simultaneous" in key[1]


def test_a_forest_without_p_values_has_no_column_for_them() -> None:
    rows = (row(0.1, (0.0, 0.2)), replace(row(0.1, (0.0, 0.2)), p=".5"))
    for listed, heads in ((rows[:1], 0), (rows, 1)):
        svg = figure_svg(blocks.Figure("f", "t", "d", drawings.Forest(listed, difference_axis(listed), "d", "p")))
        assert [element.text for element in ET.fromstring(svg).iter("text")].count("p") == heads


def test_bars_speak_in_the_words_of_their_kind() -> None:
    bars = drawings.OutcomeBars((drawings.OutcomeBar("a", 1840, 1153, 3),), "impressions", ("won", "tied", "lost"))
    texts = [element.text for element in ET.fromstring(figure_svg(blocks.Figure("o", "t", "d", bars))).iter("text")]
    assert texts == ["a", "1,840", "1,153", "3", "▲ won", "tied", "▼ lost"]


def test_the_comparisons_that_are_drawn_are_those_told_first() -> None:
    names = [f"s{i}" for i in range(9)]
    report = sample_report(names=names, queries=30, segments=False, lists=False, effects=[0.01 * i for i in range(9)])
    page = page_model(report)
    drawn = {s.key: [b for b in s.blocks if isinstance(b, blocks.Figure)] for s in page.sections}
    told = [statement.headline.split()[0] for statement in page.statements][:3]
    assert [figure.title.split()[0] for figure in drawn["spread"][::2]] == told
    assert [figure.title.split()[0] for figure in drawn["distributions"]] == told
    remarks = [b.text for s in page.sections for b in s.blocks if isinstance(b, blocks.Paragraph)]
    assert any(text.startswith("Drawn for 3 of 8 comparisons on nDCG@10") for text in remarks)


def test_a_few_queries_are_not_resampled_in_public() -> None:
    page = page_model(sample_report(queries=8))
    assert not {"distributions"} & {section.key for section in page.sections}
    assert not [b for s in page.sections for b in s.blocks if getattr(b, "key", "").startswith("waterfall")]


def test_words_above_a_row_have_a_line_of_their_own() -> None:
    rows = (row(0.2, (0.1, 0.3)), replace(row(-0.2, (-0.3, -0.1), "worse"), first=True, before="88 not drawn"))
    bars = tuple(drawings.OutcomeBar("a", 3, 2, 1, before=words) for words in ("", "88 not drawn"))
    forest = drawings.Forest(rows, difference_axis(rows), "d", "p")
    for drawing, plain in (
        (forest, replace(forest, rows=(rows[0], replace(rows[1], before="")))),
        (drawings.OutcomeBars(bars, "queries"), drawings.OutcomeBars(bars[:1] * 2, "queries")),
    ):
        svg, without = (figure_svg(blocks.Figure("f", "t", "d", d)) for d in (drawing, plain))
        assert "… 88 not drawn …" in svg
        assert "not drawn" not in without
        tall, usual = (float(re.findall(r'viewBox="0 0 [0-9.]+ ([0-9.]+)"', text)[0]) for text in (svg, without))
        assert tall > usual + 10


def test_without_a_known_direction_no_side_is_better() -> None:
    rows = (row(0.2, (0.1, 0.3), tones.HIGHER), row(-0.2, (-0.3, -0.1), tones.LOWER))
    forest = drawings.Forest(rows, difference_axis(rows), "d", "p", directed=False)
    svg = figure_svg(blocks.Figure("f", "t", "d", forest))
    assert "better" not in svg
    assert BLUE not in svg
    assert "higher ▸" in svg
    assert all(strip(drawn, forest).hollow for drawn in rows)
