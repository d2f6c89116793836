"""The page in Chromium: silent, readable without script, operable by keyboard, accessible, fit for small screens."""

from __future__ import annotations

import functools
import http.server
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rankstats.report.html import render_html
from tests.report.kinds import experiment_report, gate_report, interleaving_report, many_report
from tests.report.sample import HOSTILE, NOTES, hostile_report, sample_report

pytestmark = pytest.mark.browser

SCRIPT_TEXT = HOSTILE[0]
BLUE, VERMILION = "rgb(0, 114, 178)", "rgb(213, 94, 0)"
JENKINS = "sandbox; default-src 'none'; img-src 'self'; style-src 'self'"


REPORTS: dict[str, Callable[[], dict[str, Any]]] = {
    "three": sample_report,
    "two": lambda: sample_report(2, 30),
    "eight": lambda: sample_report(8, 40),
    "plain": lambda: sample_report(2, segments=False, lists=False, warnings=False, distributions=False),
    "weights": lambda: sample_report(3, 80, weights=True),
    "many": lambda: sample_report(
        names=[f"run{i:02d}" for i in range(30)], queries=40, lists=False, segments=False, compare="all-pairs"
    ),
    "paged": lambda: sample_report(2, 600, documents=True, notes="# Why\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"),
    "hostile": hostile_report,
    "no-go": lambda: gate_report("no_go"),
    "cannot-tell": lambda: gate_report("cannot_tell"),
    "experiment": experiment_report,
    "interleaving": interleaving_report,
}


# axe looks at every element several times: the same kinds of content, fewer rows of each.
SMALL: dict[str, Callable[[], dict[str, Any]]] = {
    "small": lambda: sample_report(3, 12, weights=True, documents=True, notes=NOTES),
    "small-plain": lambda: sample_report(2, 12, segments=False, lists=False, warnings=False, distributions=False),
    "no-go": lambda: gate_report("no_go"),
    "experiment": experiment_report,
}


QUICK = {"three", "hostile", "no-go", "interleaving"}
"""One page of each make; the others are looked at with the slow tests."""
EACH = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in REPORTS]


@functools.cache
def html(name: str) -> str:
    return render_html({**REPORTS, **SMALL, "largest": many_report}[name]())


@pytest.fixture
def show(open_page: Any) -> Callable[..., Any]:
    """Open one of the reports by its name."""
    return lambda name="three", **options: open_page(html(name), **options)


@pytest.mark.parametrize("name", EACH)
def test_nothing_is_asked_for_and_nothing_complained_of(show: Any, name: str) -> None:
    page = show(name)
    page.wait_for_load_state("networkidle")
    assert [url for url in page.asked if not url.startswith("data:")] == [page.url]
    assert page.heard == []


def test_text_from_outside_runs_nowhere(show: Any) -> None:
    page = show("hostile")
    page.get_by_role("button", name=SCRIPT_TEXT).first.click()
    # a dialog or an error would be heard
    assert page.heard == []
    assert page.locator("script").count() == 2
    assert page.locator("#query-table tr.detail h3").text_content() == SCRIPT_TEXT


def test_the_first_screen_answers(show: Any) -> None:
    page = show("three")
    for selector in (".statement", "#where tbody tr", ".notices li"):
        for box in (element.bounding_box() for element in page.locator(selector).all()):
            assert box is not None
            assert box["y"] + box["height"] <= 800, selector
            assert box["x"] + box["width"] <= 1280


@pytest.mark.parametrize("name", ["no-go", "cannot-tell", "experiment"])
def test_decisions_and_experiments_are_readable_without_script(show: Any, name: str) -> None:
    page = show(name, java_script_enabled=False)
    for key in ("experiment", "means") if name == "experiment" else ("rules", "means"):
        assert page.locator(f"#{key}").is_visible()
    for fold in page.locator("details.twin > summary").all():
        fold.click()
    assert page.locator("#pairs-1-table").is_visible()
    assert page.locator("button").count() == 0


@pytest.mark.parametrize("name", ["no-go", "cannot-tell"])
def test_a_decision_and_its_reason_stand_on_the_first_screen(show: Any, name: str) -> None:
    page = show(name)
    for selector in (".statement", "#rules tbody tr", "#where tbody tr"):
        for element in page.locator(selector).all():
            box = element.bounding_box()
            assert box["y"] + box["height"] <= 800, selector


@pytest.mark.parametrize(("name", "rows"), [("three", 240), ("hostile", 40), ("paged", 50)])
def test_everything_is_readable_without_script(show: Any, name: str, rows: int) -> None:
    page = show(name, java_script_enabled=False)
    assert page.locator("#query-table > tbody > tr").count() == rows
    assert (page.get_by_text("per_query.csv beside this page").count() == 1) == (name == "paged")
    assert page.locator(".controls").count() == 0
    assert page.locator("#query-table thead button").count() == 0
    summary = page.locator("#examples-1-wins summary").first
    summary.click()
    assert page.locator("#examples-1-wins table.list").first.is_visible()


STICKING_OUT = """() => Array.from(document.querySelectorAll('main td, main th'))
    .filter((e) => e.checkVisibility() && e.clientWidth > 0 && !e.closest('.unseen, #where')
      && e.scrollWidth > e.clientWidth + 1)
    .map((e) => `${e.scrollWidth} in ${e.clientWidth}: ${e.outerHTML.slice(0, 120)}`)"""
"""Cells whose text runs over the next cell."""


@pytest.mark.parametrize(
    "name", ["three", "hostile", "no-go", *(pytest.param(n, marks=pytest.mark.slow) for n in ("many", "experiment"))]
)
def test_no_text_runs_over_the_next_cell(show: Any, name: str) -> None:
    page = show(name)
    page.evaluate("document.querySelectorAll('.twin, .fold').forEach((d) => { d.open = true; })")
    assert page.evaluate(STICKING_OUT) == []
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate(STICKING_OUT) == []


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("width", [320, pytest.param(400, marks=pytest.mark.slow)])
def test_a_narrow_page_does_not_scroll_sideways(show: Any, name: str, width: int) -> None:
    page = show(name, viewport={"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", ["three", "no-go", "experiment"])
def test_the_strip_needs_no_scrolling_on_a_narrow_page(show: Any, name: str) -> None:
    page = show(name, viewport={"width": 400, "height": 800})
    region = page.locator(".scroll:has(> #where)")
    assert region.evaluate("(e) => e.scrollWidth <= e.clientWidth + 1")
    for row in page.locator("#where tbody tr").all():
        # a name of two lines and what stands under it
        assert row.bounding_box()["height"] <= 58
        # how many queries a row rests on stands under its name
        told = row.locator("th").evaluate("(e) => getComputedStyle(e, '::after').content")
        assert re.search(r"\bn\s\d", told)


def test_the_strip_names_its_segments_in_full_on_a_narrow_page(open_page: Any) -> None:
    report = sample_report(2)
    report["segments"][1]["label"] = f"{report['segments'][1]['value']} (50–90 %)"
    report["segments"][2]["label"] = "≤ 300 relevant documents"
    page = open_page(render_html(report), viewport={"width": 400, "height": 800})
    names = page.locator("#where tbody .name")
    assert names.filter(has_text="≤ 300 relevant documents").count() == 1
    for name in names.all():
        assert name.evaluate("(e) => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight + 1")
    # the head says what the numbers under the names are
    assert page.locator("#where .lead").evaluate("(e) => getComputedStyle(e, '::after').content").startswith('"n, ')


def test_the_marks_of_a_forest_are_seen_without_scrolling_on_a_narrow_page(show: Any) -> None:
    page = show("three", viewport={"width": 400, "height": 800})
    marks = page.locator(".lines svg.strip svg path")
    boxes = [box for box in (mark.bounding_box() for mark in marks.all()) if box is not None]
    assert len(boxes) >= page.locator(".lines > div").count() > 10
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 400 for box in boxes)
    assert not page.locator("#pairs-1 > .scroll").is_visible()
    wide = show("three")
    assert wide.locator("#pairs-1 > .scroll").is_visible()
    assert not any(lines.is_visible() for lines in wide.locator(".lines").all())


@pytest.mark.parametrize("name", EACH)
def test_only_regions_that_take_the_focus_scroll(show: Any, name: str) -> None:
    page = show(name, viewport={"width": 400, "height": 800})
    found = page.evaluate(
        """() => Array.from(document.querySelectorAll('main *')).filter((e) =>
             ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1
             && e.tabIndex < 0).map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert found == []


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


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("no-go", "light"),
        ("small-plain", "dark"),
        *(
            pytest.param(name, scheme, marks=pytest.mark.slow)
            for name in SMALL
            for scheme in ("light", "dark")
            if (name, scheme) not in {("no-go", "light"), ("small-plain", "dark")}
        ),
    ],
)
def test_axe_finds_no_violation(show: Any, name: str, scheme: str) -> None:
    check_with_axe(show(name, color_scheme=scheme, bypass_csp=True))


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (400, "light")])
@pytest.mark.parametrize("name", ["eight", "weights", "paged", "hostile", "cannot-tell", "interleaving", "largest"])
def test_axe_finds_no_violation_in_any_page(show: Any, name: str, width: int, scheme: str) -> None:
    size = {"width": width, "height": 800}
    check_with_axe(show(name, color_scheme=scheme, bypass_csp=True, viewport=size))


def check_with_axe(page: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page.evaluate(
        "document.querySelectorAll('details').forEach((d, i) => { if (i < 9 || i % 9 === 0) d.open = true; })"
    )
    found = axe.Axe().run(page)
    told = [
        (v["id"], v["nodes"][0]["html"][:200], v["nodes"][0]["failureSummary"]) for v in found.response["violations"]
    ]
    assert told == []


@contextmanager
def served(text: bytes, policy: str | None = None) -> Iterator[str]:
    """Serve a page over HTTP, under a policy of the server's if one is given; yield its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            if policy is not None:
                self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            """Say nothing: the test looks at the page only."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(("name", "tone"), [("three", BLUE), ("no-go", VERMILION), ("experiment", BLUE)])
def test_figures_survive_a_policy_that_drops_style(browser: Any, name: str, tone: str) -> None:
    with served(html(name).encode(), JENKINS) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(address)
        drawn = page.locator("#pairs-1 svg[role=img]")
        assert drawn.bounding_box()["width"] == pytest.approx(1040)
        colours = drawn.locator("path").evaluate_all("(all) => all.map((e) => getComputedStyle(e).stroke)")
        assert tone in colours
        sizes = drawn.locator("text").evaluate_all("(all) => all.map((e) => getComputedStyle(e).fontSize)")
        assert set(sizes) <= {"12px", "13px"}
        assert page.locator("#where svg.strip").first.bounding_box()["height"] == pytest.approx(24)
        assert page.locator(".statement .headline").first.is_visible()
        page.close()


@pytest.mark.parametrize("name", ["no-go", "interleaving"])
def test_over_http_too_nothing_else_is_asked_for(browser: Any, name: str) -> None:
    with served(html(name).encode()) as address:
        page = browser.new_page()
        asked: list[str] = []
        heard: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: heard.append(message.text))
        page.goto(address)
        page.wait_for_load_state("networkidle")
        assert [url for url in asked if not url.startswith("data:")] == [address]
        assert heard == []
        page.close()


@pytest.mark.parametrize("name", ["no-go", *(pytest.param(n, marks=pytest.mark.slow) for n in ("experiment", "paged"))])
def test_the_keyboard_reaches_every_control(show: Any, name: str) -> None:
    page = show(name)
    wanted = page.evaluate(
        """() => { const kinds = 'a[href], button, summary, input, select, [tabindex="0"]';
             const all = Array.from(document.querySelectorAll(kinds))
               .filter((e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility());
             all.forEach((e, i) => { e.dataset.place = i; }); return all.length; }"""
    )
    reached = []
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        place = page.evaluate("document.activeElement.dataset.place ?? null")
        if place is None:
            break
        reached.append(int(place))
    # each one once, in the order of the page
    assert reached == list(range(wanted))


@pytest.mark.slow
def test_the_keyboard_operates_sorting_folding_and_paging(show: Any) -> None:
    page = show("largest")
    head = page.locator("#means thead th").nth(1)
    means = page.locator("#means tbody tr td:nth-child(2)")
    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "ascending"
    shown = [text.removeprefix("highest ")[:5] for text in means.all_text_contents()]
    assert len(shown) == 129
    assert shown == sorted(shown)
    fold = page.locator("#pairs-1 summary")
    fold.focus()
    page.keyboard.press("Enter")
    assert page.locator("#pairs-1-table").is_visible()
    page = show("paged")
    page.get_by_role("button", name="later →").focus()
    page.keyboard.press("Enter")
    assert "page=2" in page.url
    page.get_by_label("Filter by text").focus()
    page.keyboard.type("lamp")
    assert "find=lamp" in page.url
    page.get_by_role("combobox", name="Outcome").focus()
    page.keyboard.type("wor")
    page.keyboard.press("Enter")
    assert "outcome=worse" in page.url


def test_a_folded_table_does_not_say_its_caption_twice(show: Any) -> None:
    page = show("three")
    page.evaluate("document.querySelectorAll('.fold').forEach((d) => { d.open = true; })")
    assert page.locator("#measure-1 caption").bounding_box()["height"] <= 1
    assert page.get_by_role("table", name="all conventions").first.is_visible()


def test_the_arrow_of_a_head_stands_beside_its_name(show: Any) -> None:
    page = show("three")
    head = page.locator("#means thead th:has(small)").first
    button, note = head.get_by_role("button"), head.locator("small")
    assert note.text_content() not in button.text_content()
    line = page.locator("#means thead th").first.get_by_role("button").bounding_box()["height"]
    assert button.bounding_box()["height"] <= line + 1
    assert button.bounding_box()["y"] < note.bounding_box()["y"]


@pytest.mark.parametrize("media", ["screen", "print"])
def test_the_values_of_examples_without_facts_stand_under_each_other(open_page: Any, media: str) -> None:
    report = sample_report(2, 30, segments=False, lists=False)
    for i, query in enumerate(report["queries"]):
        query["attributes"], query["query_id"] = {}, str(7**i)
    page = open_page(render_html(report))
    page.emulate_media(media=media)
    places = page.locator("#examples-1-wins .from").evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().x)")
    assert len(places) > 5
    assert max(places) - min(places) < 0.5
    ends = page.locator("#examples-1-wins .query").evaluate_all(
        "(all) => all.map((e) => { const r = document.createRange(); r.selectNodeContents(e);"
        " return r.getBoundingClientRect().right; })"
    )
    assert places[0] - max(ends) < 60


def test_checks_need_no_scrolling_on_a_narrow_page(show: Any) -> None:
    page = show("experiment", viewport={"width": 400, "height": 800})
    page.evaluate("document.querySelectorAll('.fold').forEach((d) => { d.open = true; })")
    region = page.locator(".scroll:has(> #evidence-checks)")
    assert region.evaluate("(e) => e.scrollWidth <= e.clientWidth + 1")
    assert page.get_by_role("table", name="Checks of the experiment").get_by_role("rowheader").count() > 3


def test_a_long_caption_does_not_stretch_its_table(show: Any) -> None:
    page = show("three")
    table = page.locator("#health table").first
    before = table.bounding_box()["width"]
    table.evaluate("(e) => { e.caption.textContent = 'many words '.repeat(12); }")
    assert table.bounding_box()["width"] == before
    # and the table does not squeeze the caption
    assert table.evaluate("(e) => e.caption.getBoundingClientRect().width") > 600


def test_a_command_is_not_broken_within_an_option(show: Any) -> None:
    page = show("three", viewport={"width": 400, "height": 800})
    arguments = page.locator("#method pre .whole")
    assert arguments.count() > 3
    for argument in arguments.all():
        assert argument.evaluate("(e) => e.getClientRects().length") == 1
