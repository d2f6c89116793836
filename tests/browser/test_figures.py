"""The figures in Chromium: whole on a narrow page, side by side on a wide one, in the colours of the page."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from rankstats.report.html import render_html
from tests.report.kinds import interleaving_report
from tests.report.sample import sample_report

pytestmark = pytest.mark.browser

OUTSIDE = """() => Array.from(document.querySelectorAll('svg.figure text')).filter((text) => {
  const label = text.getBoundingClientRect(), figure = text.closest('svg.figure').getBoundingClientRect();
  return label.width && (label.left < figure.left - 1 || label.right > figure.right + 1);
}).map((text) => text.textContent)"""
SCROLLING = """() => Array.from(document.querySelectorAll('figure > .scroll'))
  .filter((region) => region.clientWidth && region.scrollWidth > region.clientWidth + 1)
  .map((region) => region.closest('figure').id)"""


@functools.cache
def html(name: str) -> str:
    makers = {"two": lambda: sample_report(2, 60), "three": sample_report, "interleaving": interleaving_report}
    return render_html(makers[name]())


@pytest.mark.parametrize("width", [320, 400, 800, 1280])
@pytest.mark.parametrize("name", ["two", "three", "interleaving"])
def test_no_label_leaves_its_figure(open_page: Any, name: str, width: int) -> None:
    page = open_page(html(name), viewport={"width": width, "height": 800})
    assert page.evaluate(OUTSIDE) == []


@pytest.mark.parametrize("width", [400, 1280])
def test_every_figure_is_seen_without_scrolling(open_page: Any, width: int) -> None:
    page = open_page(html("three"), viewport={"width": width, "height": 800})
    assert page.evaluate(SCROLLING) == []
    for figure in page.locator("figure").all():
        drawn = [svg for svg in figure.locator("svg.figure").all() if svg.is_visible()]
        assert drawn
        assert all(svg.bounding_box()["x"] + svg.bounding_box()["width"] <= width for svg in drawn)


def test_a_scatter_stands_beside_its_waterfall_where_there_is_room(open_page: Any) -> None:
    page = open_page(html("two"))
    first, second = (page.locator(f"#{key}-1").bounding_box() for key in ("waterfall", "scatter"))
    assert first["y"] == second["y"]
    assert first["x"] + first["width"] < second["x"]
    page.set_viewport_size({"width": 800, "height": 800})
    first, second = (page.locator(f"#{key}-1").bounding_box() for key in ("waterfall", "scatter"))
    assert first["y"] + first["height"] <= second["y"]


def test_a_mark_and_its_line_have_one_colour_on_a_dark_page(open_page: Any) -> None:
    page = open_page(html("three"), color_scheme="dark")
    colours = page.evaluate(
        """() => Array.from(document.querySelectorAll('#pairs-1 svg.figure use[stroke]')).map((use) => {
             const style = getComputedStyle(use);
             return [use.getAttribute('stroke'), style.stroke];
           })"""
    )
    light = {"#0072b2": "rgb(0, 114, 178)", "#d55e00": "rgb(213, 94, 0)", "#767676": "rgb(118, 118, 118)"}
    assert colours
    assert not [used for used in colours if light.get(used[0]) == used[1]]
