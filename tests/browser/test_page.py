"""The page in Chromium: silent, readable without script, operable by keyboard, accessible, fit for small screens."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rankstats.report.html import render_html
from tests.report.sample import sample_report

playwright = pytest.importorskip("playwright.sync_api", reason="the browser extra (playwright) is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
]

SCRIPT_TEXT = "<script>document.title='taken'</script>"
JENKINS = "sandbox; default-src 'none'; img-src 'self'; style-src 'self'"


def hostile_report() -> dict[str, Any]:
    texts = [SCRIPT_TEXT, "שלום עולם red shoes", "x" * 10_000, "nul\x00 in text", '" onmouseover="alert(1)']
    return sample_report(texts=texts, names=["key<b>word", "hybrid", "a-system-with-a-very-long-name-" + "y" * 60])


REPORTS: dict[str, Callable[[], dict[str, Any]]] = {
    "three": sample_report,
    "two": lambda: sample_report(2, 30),
    "eight": lambda: sample_report(8, 60, compare="all-pairs"),
    "plain": lambda: sample_report(2, segments=False, lists=False, warnings=False, distributions=False),
    "weights": lambda: sample_report(3, 80, weights=True),
    "hostile": hostile_report,
}


# axe looks at every element several times: the same kinds of content, fewer rows of each.
SMALL: dict[str, Callable[[], dict[str, Any]]] = {
    "small": lambda: sample_report(3, 24, weights=True, compare="all-pairs"),
    "small-hostile": lambda: sample_report(
        2, 14, texts=[SCRIPT_TEXT, "שלום", "x" * 10_000], names=["key<b>word", "y" * 90]
    ),
    "small-plain": lambda: sample_report(2, 12, segments=False, lists=False, warnings=False, distributions=False),
}


@functools.cache
def html(name: str) -> str:
    return render_html({**REPORTS, **SMALL}[name]())


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Open a report and return its page; requests and console messages are collected on it."""
    contexts = []

    def opened(name: str = "three", **options: Any) -> Any:
        path = tmp_path / f"{name}.html"
        path.write_text(html(name), encoding="utf-8")
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.heard = []
        page.asked = []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", REPORTS)
def test_nothing_is_asked_for_and_nothing_complained_of(show: Any, name: str) -> None:
    page = show(name)
    page.wait_for_load_state("networkidle")
    assert [url for url in page.asked if not url.startswith("data:")] == [page.url]
    assert page.heard == []


def test_text_from_outside_runs_nowhere(show: Any) -> None:
    page = show("hostile")
    assert page.title() != "taken"
    assert page.locator("script").count() == 1
    assert page.locator("#query-table tbody th", has_text=SCRIPT_TEXT).count() == 1


def test_the_first_screen_answers(show: Any) -> None:
    page = show("three")
    for selector in (".statement", "#where tbody tr", ".notices li"):
        for box in (element.bounding_box() for element in page.locator(selector).all()):
            assert box is not None
            assert box["y"] + box["height"] <= 800, selector
            assert box["x"] + box["width"] <= 1280


@pytest.mark.parametrize("name", ["three", "hostile"])
def test_everything_is_readable_without_script(show: Any, name: str) -> None:
    page = show(name, java_script_enabled=False)
    rows = page.locator("#query-table tbody tr")
    assert rows.count() == 240
    assert page.locator(".controls").count() == 0
    assert page.locator("#query-table thead button").count() == 0
    summary = page.locator("#examples-1-wins summary").first
    summary.click()
    assert page.locator("#examples-1-wins table.list").first.is_visible()


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("width", [320, 400])
def test_a_narrow_page_does_not_scroll_sideways(show: Any, name: str, width: int) -> None:
    page = show(name, viewport={"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_strip_stays_in_line_on_a_narrow_page(show: Any) -> None:
    page = show("three", viewport={"width": 400, "height": 800})
    for row in page.locator("#where tbody tr").all():
        assert row.bounding_box()["height"] <= 28
    first = page.locator("#where tbody tr").first
    assert first.locator("td").nth(2).bounding_box()["x"] < 400 - 24


@pytest.mark.parametrize("name", REPORTS)
def test_only_regions_that_take_the_focus_scroll(show: Any, name: str) -> None:
    page = show(name, viewport={"width": 400, "height": 800})
    found = page.evaluate(
        """() => Array.from(document.querySelectorAll('main *')).filter((e) =>
             ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1
             && e.tabIndex < 0).map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert found == []


def test_a_column_sorts_by_number_then_the_other_way(show: Any) -> None:
    page = show("three")
    head = page.locator("#query-table thead th", has_text="hybrid − keyword")
    column = page.locator("#query-table thead th").all_text_contents().index(head.text_content())

    def values() -> list[float]:
        texts = page.locator(f"#query-table tbody tr > :nth-child({column + 1})").all_text_contents()
        return [float(text.replace("−", "-")) for text in texts if text != "—"]

    before = values()
    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert values() == sorted(before, reverse=True)
    page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "ascending"
    assert values() == sorted(before)
    last = page.locator(f"#query-table tbody tr:last-child > :nth-child({column + 1})").text_content()
    assert last == "—"


def test_the_filter_keeps_rows_with_all_words_and_tells_how_many(show: Any) -> None:
    page = show("three")
    box = page.get_by_label("Filter by text")
    box.fill("lamp oak")
    seen = [row for row in page.locator("#query-table tbody tr").all() if row.is_visible()]
    texts = [row.text_content() for row in seen]
    assert texts
    assert all("lamp" in text and "oak" in text for text in texts)
    assert page.get_by_role("status").text_content() == f"{len(texts)} of 240 rows"
    box.fill("")
    assert page.get_by_role("status").text_content() == "240 of 240 rows"


def test_the_keyboard_reaches_everything_and_the_focus_is_seen(show: Any) -> None:
    page = show("two")
    reached = set()
    for _ in range(400):
        page.keyboard.press("Tab")
        state = page.evaluate(
            """() => { const e = document.activeElement; const style = getComputedStyle(e);
                 return [e.tagName + ' ' + (e.id || e.textContent.trim().slice(0, 60)), style.outlineStyle]; }"""
        )
        if state[0].startswith("BODY"):
            break
        reached.add(state[0].split()[0])
        assert state[1] != "none", state
    assert {"A", "SUMMARY", "BUTTON", "INPUT"} <= reached


def test_the_skip_link_leads_to_the_verdict(show: Any) -> None:
    page = show("two")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the verdict"
    page.keyboard.press("Enter")
    assert page.url.endswith("#verdict")


def test_a_link_to_a_query_opens_it(show: Any) -> None:
    page = show("three")
    page.goto(page.url + "#e1-wins-2")
    assert page.locator("#e1-wins-2 table.list").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", SMALL)
def test_axe_finds_no_violation(show: Any, name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = show(name, color_scheme=scheme, bypass_csp=True)
    page.evaluate(
        "document.querySelectorAll('details').forEach((d, i) => { if (i < 30 || i % 9 === 0) d.open = true; })"
    )
    found = axe.Axe().run(page)
    told = [
        (v["id"], v["nodes"][0]["html"][:200], v["nodes"][0]["failureSummary"]) for v in found.response["violations"]
    ]
    assert told == []


def test_figures_survive_a_policy_that_drops_style(browser: Any) -> None:
    text = html("three").encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", JENKINS)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            """Say nothing: the test looks at the page only."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(f"http://127.0.0.1:{server.server_port}/")
            drawn = page.locator("#pairs-1 svg")
            assert drawn.bounding_box()["width"] == pytest.approx(1040)
            colours = drawn.locator("path").evaluate_all("(all) => all.map((e) => getComputedStyle(e).stroke)")
            assert "rgb(0, 114, 178)" in colours
            assert page.locator("#where svg.strip").first.bounding_box()["height"] == pytest.approx(24)
            page.close()
        finally:
            server.shutdown()
            thread.join()


def test_print_is_light_and_holds_the_ends_of_the_query_table(show: Any) -> None:
    page = show("three", color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert sum(row.is_visible() for row in page.locator("#query-table tbody tr").all()) == 20
    assert not page.locator("nav").is_visible()
    for line in page.locator(".examples summary").all():
        assert line.bounding_box()["height"] < 60
    assert not page.locator(".controls").is_visible()
