"""Opens rendered pages in Debian's Chromium; the tests are skipped where it is absent."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser extra (playwright) is not installed")
    if not CHROMIUM:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Open a page from its text and return it; requests and console messages are collected on it."""
    contexts = []

    def opened(html: str, address: str = "", **options: Any) -> Any:
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.heard = []
        page.asked = []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("dialog", lambda dialog: (page.heard.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(path.as_uri() + address)
        return page

    yield opened
    for context in contexts:
        context.close()
