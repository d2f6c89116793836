"""The page of an A/B experiment in Chromium: silent, narrow, printed, accessible."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from rankstats.cli.ab import add_arguments, make_settings
from rankstats.experiment import read_out
from rankstats.report.html import render_html
from tests.experiment.made import readout, units
from tests.experiment.search_ab import ASKED, search_experiment

pytestmark = pytest.mark.browser


def search() -> dict[str, Any]:
    """The made-up search experiment, thinned."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    settings = make_settings(parser.parse_intermixed_args(["events.parquet", *ASKED]))
    events, assignments = search_experiment(3000)
    return read_out(settings, rows=pa.table(events), assignments=pa.table(assignments)).to_dict()


def withheld() -> dict[str, Any]:
    rows = [row for row in units(1000) if row["arm"] == "A"] + [row for row in units(1000) if row["arm"] == "B"][:200]
    return readout(rows, "revenue", "paid", segments=("country",)).to_dict()


REPORTS: dict[str, Callable[[], dict[str, Any]]] = {"search": search, "withheld": withheld}


@functools.cache
def html(name: str) -> str:
    return render_html(REPORTS[name]())


@pytest.fixture
def show(open_page: Any) -> Callable[..., Any]:
    return lambda name="search", **options: open_page(html(name), **options)


@pytest.mark.parametrize("name", REPORTS)
def test_nothing_is_asked_for_and_nothing_complained_of(show: Any, name: str) -> None:
    page = show(name)
    page.wait_for_load_state("networkidle")
    assert [url for url in page.asked if not url.startswith("data:")] == [page.url]
    assert page.heard == []


def test_the_first_screen_answers(show: Any) -> None:
    page = show("search")
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
        pytest.param("search", "light", marks=pytest.mark.slow),
        pytest.param("search", "dark", marks=pytest.mark.slow),
    ],
)
def test_axe_finds_no_violation(show: Any, name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = show(name, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    found = axe.Axe().run(page)
    assert [violation["id"] for violation in found.response["violations"]] == []
