"""The page on paper: light, unfolded, without what only a screen can do, and without rows that say nothing."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from rankstats.report.html import render_html
from tests.report.kinds import many_report
from tests.report.sample import sample_report

pytestmark = pytest.mark.browser


@functools.cache
def html(name: str) -> str:
    return render_html({"three": sample_report, "largest": many_report}[name]())


@pytest.fixture
def show(open_page: Any) -> Callable[..., Any]:
    """Open one of the reports by its name."""
    return lambda name="three", **options: open_page(html(name), **options)


def test_print_is_light_and_holds_the_ends_of_the_query_table(show: Any) -> None:
    page = show("three", color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert sum(row.is_visible() for row in page.locator("#query-table tbody tr").all()) == 20
    assert not page.locator("nav").is_visible()
    for line in page.locator(".examples summary").all():
        assert line.bounding_box()["height"] < 60
    assert not any(controls.is_visible() for controls in page.locator(".controls").all())


@pytest.mark.parametrize("script", [True, False])
def test_paper_shows_what_the_screen_folds_but_for_the_twins_of_figures(show: Any, script: bool) -> None:
    page = show("three", java_script_enabled=script)
    page.emulate_media(media="print")
    if script:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#measure-1 tbody tr").first.is_visible()
    assert page.locator("#measure-1 caption").bounding_box()["height"] > 8
    assert not any(fold.is_visible() for fold in page.locator(":is(.fold, .twin) > summary").all())
    assert not page.locator("#pairs-1-table").is_visible()
    assert page.locator("thead").first.evaluate("(e) => getComputedStyle(e).display") == "table-header-group"
    if script:
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert page.locator(".fold[open]").count() == 0


def test_paper_has_no_word_about_what_only_a_screen_can_do(show: Any) -> None:
    page = show("three")
    legend = page.get_by_text("to see both lists")
    assert legend.is_visible()
    page.emulate_media(media="print")
    assert not legend.is_visible()
    page.evaluate("document.querySelector('.examples details').open = true")
    assert legend.is_visible()


def test_paper_marks_where_a_long_table_leaves_rows_out(show: Any) -> None:
    page = show("largest")
    page.emulate_media(media="print")
    said = page.locator("#means tbody tr > th").evaluate_all(
        "(all) => all.filter((e) => e.checkVisibility()).map((e) => getComputedStyle(e, '::before').content)"
    )
    assert said == ["none"] * 10 + ['"…"'] + ["none"] * 9


def test_paper_shows_a_check_only_if_it_found_something(open_page: Any) -> None:
    report = sample_report(2, 30)
    found = [("is a?", "ok", ""), ("is b?", "warning", "it is"), ("is c?", "not_applicable", "")]
    report["checks"] = [{"question": q, "outcome": o, "found": f} for q, o, f in found]
    page = open_page(render_html(report))
    rows, told = page.locator("#evidence-checks tbody tr"), page.locator(".paper")
    page.locator(".fold:has(#evidence-checks) summary").click()
    assert [row.is_visible() for row in rows.all()] == [True] * 3
    assert not any(line.is_visible() for line in told.all())
    page.emulate_media(media="print")
    assert [row.is_visible() for row in rows.all()] == [True, False, False]
    assert [line.text_content() for line in told.all() if line.is_visible()] == [
        "Nothing found: is a?",
        "Does not apply: is c?",
    ]


def test_paper_keeps_the_grey_of_marks_and_its_ticks_apart(show: Any) -> None:
    page = show("three", viewport={"width": 794, "height": 1100})
    page.emulate_media(media="print")
    kept = page.locator(".sign").evaluate_all("(all) => all.map((e) => getComputedStyle(e).printColorAdjust)")
    assert set(kept) == {"exact"}
    axes = page.locator("#where.panels-2 svg.axis").all()
    assert len(axes) == 2
    for axis in axes:
        boxes = [box for box in (text.bounding_box() for text in axis.locator("text").all()) if box is not None]
        assert len(boxes) >= 2
        assert all(b["x"] - a["x"] - a["width"] > 4 for a, b in itertools.pairwise(boxes))
