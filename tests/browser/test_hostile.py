"""Hostile texts from the files to the screen: nothing runs, nothing is asked for, nothing makes the page scroll."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rankstats.cli.main import main
from tests.report.hostile_inputs import COMMANDS, NAMES

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", params=COMMANDS)
def html(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("hostile")
    assert main([*COMMANDS[request.param](folder), "--out", str(folder / "out"), "--quiet"]) == 0
    return Path(folder / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [400, pytest.param(1280, marks=pytest.mark.slow)])
def test_hostile_texts_are_shown_and_the_layout_holds(open_page: Any, html: str, width: int) -> None:
    page = open_page(html, viewport={"width": width, "height": 800})
    page.wait_for_load_state("networkidle")
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # no cell, heading or figure sticks out of the region that scrolls it
    outside = page.evaluate(
        """(width) => Array.from(document.querySelectorAll('main h2, main h3, main p, main .headline, main figcaption'))
             .filter((e) => e.getBoundingClientRect().right > width && !e.closest('.scroll') && !e.closest('.prose'))
             .map((e) => e.outerHTML.slice(0, 120))""",
        width,
    )
    assert outside == []
    assert page.heard == []
    assert [url for url in page.asked if not url.startswith("data:")] == [page.url]
    assert NAMES[0] in page.locator("#means").text_content()
    assert page.locator("main b, main i, main img, main u").count() == 0


def test_figures_hold_hostile_names_as_text(open_page: Any, html: str) -> None:
    page = open_page(html)
    texts = page.locator("#pairs-1 svg text").all_text_contents()
    # the first of the systems that are compared: nothing of it was taken for a formula
    assert any(name in text for text in texts for name in ("$x_1$ \\frac{a}{b}", "xxxx…xxxx", "xxx…xxx")), texts[:20]
