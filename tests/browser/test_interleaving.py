"""The page of an interleaving log in Chromium: silent, narrow, printed, accessible."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from rankstats.report.html import render_html
from tests.interleaving.made import log, page_rows, readout

pytestmark = pytest.mark.browser

TRIO = (("prod", "x"), ("prod", "y"), ("x", "y"))
REPORTS: dict[str, Callable[[], dict[str, Any]]] = {
    "two": lambda: readout(log(400, 150), segments=["device"]).to_dict(),
    "three": lambda: readout(log(600, 200, pairs=TRIO), segments=["device"]).to_dict(),
    "withheld": lambda: readout([r for i in range(60) for r in page_rows(f"p{i:02d}", "abab", "0110")]).to_dict(),
}


@functools.cache
def html(name: str) -> str:
    return render_html(REPORTS[name]())


@pytest.fixture
def show(open_page: Any) -> Callable[..., Any]:
    return lambda name="two", **options: open_page(html(name), **options)


@pytest.mark.parametrize("name", REPORTS)
def test_nothing_is_asked_for_and_nothing_complained_of(show: Any, name: str) -> None:
    page = show(name)
    page.wait_for_load_state("networkidle")
    assert [url for url in page.asked if not url.startswith("data:")] == [page.url]
    assert page.heard == []


def test_the_first_screen_answers(show: Any) -> None:
    page = show("two")
    for selector in (".statement", "#where tbody tr", ".notices li"):
        boxes = [element.bounding_box() for element in page.locator(selector).all()]
        assert boxes, selector
        assert all(box["y"] + box["height"] <= 800 and box["x"] + box["width"] <= 1280 for box in boxes), selector


@pytest.mark.parametrize("name", REPORTS)
def test_a_narrow_page_does_not_scroll_sideways(show: Any, name: str) -> None:
    page = show(name, viewport={"width": 400, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("withheld", "light"),
        pytest.param("two", "light", marks=pytest.mark.slow),
        pytest.param("three", "dark", marks=pytest.mark.slow),
    ],
)
def test_axe_finds_no_violation(show: Any, name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = show(name, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    found = axe.Axe().run(page)
    assert [violation["id"] for violation in found.response["violations"]] == []
