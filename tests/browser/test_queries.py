"""The table of all queries in Chromium: sort, filter, pages, one query in full, its address, the keyboard."""

from __future__ import annotations

import csv
import functools
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from rankstats.report.html import render_html
from tests.report.sample import MEASURES, sample_report

pytestmark = pytest.mark.browser

MEASURE = MEASURES[0][0]
FORMULA = "=HYPERLINK(1)"


@functools.cache
def report_of(queries: int = 240, *, hostile: bool = False) -> dict[str, Any]:
    texts = [FORMULA, "-1+1 red", '"quoted", text', "<b>bold</b>", "@sum", "été q10", "ete q9"] if hostile else None
    report = sample_report(queries=queries, texts=texts, documents=True)
    if hostile:
        report["queries"][3]["query_id"] = "q00004&b=c #d/ü%"
    return report


@functools.cache
def html_of(queries: int = 240, *, hostile: bool = False) -> str:
    return render_html(report_of(queries, hostile=hostile))


@pytest.fixture
def show(open_page: Any) -> Any:
    def opened(queries: int = 240, address: str = "", *, hostile: bool = False, **options: Any) -> Any:
        return open_page(html_of(queries, hostile=hostile), address, **options)

    return opened


def column(page: Any, name: str) -> list[str]:
    heads = page.locator("#query-table > thead th").all_text_contents()
    cells = f"#query-table > tbody > tr[data-index] > :nth-child({heads.index(name) + 1})"
    texts: list[str] = page.locator(cells).all_text_contents()
    return texts


def numbers(texts: list[str]) -> list[float]:
    return [float(text.replace("−", "-")) for text in texts if text != "—"]


def head(page: Any, name: str) -> Any:
    return page.locator("#query-table > thead th", has=page.get_by_role("button", name=name, exact=True))


def state(page: Any) -> dict[str, list[str]]:
    # the page itself knows its address at once, the test only after a while
    fragment = urlsplit(page.evaluate("location.href")).fragment
    return parse_qs(fragment.removeprefix("queries&")) if fragment.startswith("queries&") else {}


def gaps(report: dict[str, Any], system: str = "hybrid") -> list[float | None]:
    values = report["values"]
    pairs = zip(values["keyword"][MEASURE], values[system][MEASURE], strict=True)
    return [None if a is None else b - a for a, b in pairs]


def test_a_column_sorts_by_number_then_the_other_way(show: Any) -> None:
    page = show()
    before = numbers(column(page, "difference"))
    head(page, "difference").get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert head(page, "difference").get_attribute("aria-sort") == "descending"
    assert numbers(column(page, "difference")) == sorted(before, reverse=True)
    page.keyboard.press("Space")
    assert head(page, "difference").get_attribute("aria-sort") == "ascending"
    assert numbers(column(page, "difference")) == sorted(before)
    assert column(page, "difference")[-1] == "—"
    assert state(page) == {"sort": ["difference"]}


def test_the_page_begins_in_the_order_that_its_script_makes(open_page: Any) -> None:
    report = sample_report(queries=30, documents=True)
    given = ["Q10", "é2", "q9", "e1", "10", "9", "e10", "日2", "日10", "\uff211", "\U0001d7d8"]
    for query, query_id in zip(report["queries"], given, strict=False):
        query["query_id"] = query_id
    page = open_page(render_html(report))
    before = column(page, "id")
    assert before[:3] == ["9", "10", "e1"]
    assert head(page, "id").get_attribute("aria-sort") == "ascending"
    head(page, "id").get_by_role("button").click()
    assert head(page, "id").get_attribute("aria-sort") == "descending"
    head(page, "id").get_by_role("button").click()
    assert column(page, "id") == before
    assert len(before) == 30


def test_only_moves_of_relevant_documents_are_coloured(show: Any) -> None:
    page = show(240, f"#queries&open={report_of()['lists'][0]['query_id']}")
    rows = page.locator("#query-table table.list >> nth=1").locator("tbody tr")
    moves = rows.evaluate_all(
        """(rows) => rows.map((row) => [row.cells[1].textContent.includes("●"), row.cells[3].textContent,
            row.cells[3].className])"""
    )
    assert len(moves) == 10
    for relevant, move, classes in moves:
        tone = {"↑": " t-better", "↓": " t-worse"}.get(move[0], "") if relevant else ""
        assert classes == f"move{tone}"
    assert {bool(relevant) for relevant, move, _ in moves if move[0] in "↑↓"} == {True, False}
    assert "“new” and “gone”: not among the first 10 of the other list" in page.locator("tr.detail").text_content()


def test_long_texts_stand_in_the_opened_query(open_page: Any) -> None:
    report = sample_report(queries=12)
    for i, query in enumerate(report["queries"]):
        query["attributes"]["narrative"] = f"<b>{i}</b> " + "words " * 20
    page = open_page(render_html(report), f"#queries&open={report['queries'][4]['query_id']}")
    assert "narrative: <b>4</b> words" in page.locator("tr.detail").text_content()
    assert "narrative" not in page.locator("#query-table > thead").text_content()


def test_texts_sort_without_accents_and_numbers_by_size(show: Any) -> None:
    page = show(20, hostile=True)
    head(page, "query").get_by_role("button").click()
    texts = column(page, "query")
    assert texts.index("ete q9") + 1 == texts.index("été q10")


def test_the_filter_keeps_rows_with_all_words_and_tells_how_many(show: Any) -> None:
    page = show()
    box = page.get_by_label("Filter by text")
    box.fill("lamp oak")
    texts = column(page, "query")
    assert texts
    assert all("lamp" in text and "oak" in text for text in texts)
    assert page.get_by_role("status").text_content() == f"{len(texts)} of 240 queries"
    box.fill("q00007")
    assert column(page, "id") == ["q00007"]
    page.get_by_role("button", name="Clear filters").click()
    assert page.get_by_role("status").text_content() == "240 of 240 queries"
    assert state(page) == {}


def test_segments_and_outcomes_filter(show: Any) -> None:
    page, report = show(), report_of()
    page.get_by_role("combobox", name="Outcome").select_option("worse")
    worse = [
        q["query_id"] for q, gap in zip(report["queries"], gaps(report), strict=True) if gap is not None and gap < 0
    ]
    assert column(page, "id") == worse
    page.get_by_role("combobox", name="popularity").select_option("tail")
    tail = [
        q["query_id"] for q in report["queries"] if q["attributes"]["popularity"] == "tail" and q["query_id"] in worse
    ]
    assert column(page, "id") == tail
    page.get_by_role("combobox", name="Comparison").select_option("neural against keyword")
    other = [
        q["query_id"] for q, gap in zip(report["queries"], gaps(report, "neural"), strict=True)
        if gap is not None and gap < 0 and q["attributes"]["popularity"] == "tail"
    ]  # fmt: skip
    assert column(page, "id") == other
    assert numbers(column(page, "difference")) == pytest.approx(
        [g for g, q in zip(gaps(report, "neural"), report["queries"], strict=True) if q["query_id"] in other],
        abs=5.1e-4,
    )
    assert state(page) == {
        "system": ["neural"], "baseline": ["keyword"], "outcome": ["worse"], "in.popularity": ["tail"],
    }  # fmt: skip


def test_another_measure_is_shown_with_its_values(show: Any) -> None:
    page, report = show(), report_of()
    page.get_by_role("combobox", name="Measure").select_option("AP")
    values = [v for v in report["values"]["hybrid"]["AP"] if v is not None]
    assert numbers(column(page, "hybrid")) == pytest.approx(values, abs=5.1e-4)
    assert page.locator("#query-table > caption").text_content() == "AP of every query: hybrid against keyword"


def test_the_address_holds_the_state_and_brings_it_back(show: Any) -> None:
    page = show()
    page.get_by_label("Filter by text").fill("oak")
    page.get_by_role("combobox", name="Outcome").select_option("better")
    page.get_by_role("combobox", name="length").select_option(index=1)
    head(page, "difference").get_by_role("button").click()
    wanted, address = column(page, "id"), page.url
    assert len(wanted) > 3
    page.goto("about:blank")
    page.goto(address)
    assert column(page, "id") == wanted
    assert page.get_by_label("Filter by text").input_value() == "oak"
    assert page.get_by_role("combobox", name="Outcome").input_value() == "b"
    assert head(page, "difference").get_attribute("aria-sort") == "descending"


def test_a_link_opens_its_query_with_both_lists(show: Any) -> None:
    report = report_of()
    row = report["lists"][0]
    other = next(r for r in report["lists"] if r["query_id"] == row["query_id"] and r["system"] == "hybrid")
    page = show(240, f"#queries&open={row['query_id']}")
    opened = page.locator("#query-table tr.detail")
    text = next(q["attributes"]["text"] for q in report["queries"] if q["query_id"] == row["query_id"])
    assert opened.get_by_role("heading").text_content() == text
    tables = opened.locator("table.list")
    ranks = {doc["doc_id"]: doc["rank"] for doc in row["docs"]}
    lines = tables.nth(1).locator("tbody tr").all()
    for line, doc in zip(lines, other["docs"], strict=True):
        cells = line.locator("td, th").all_text_contents()
        grade = (
            "?not judged"
            if doc["grade"] is None
            else f"{'●' * doc['grade']}{'○' * (3 - doc['grade'])}grade {doc['grade']} of 3"
        )
        before = ranks.get(doc["doc_id"])
        move = "new" if before is None else "= same" if before == doc["rank"] else None
        move = move or f"{'↑' if before > doc['rank'] else '↓'} was {before}"
        brings = f"{doc['contribution']:.3f}" if doc["contribution"] else "0"
        assert cells == [str(doc["rank"]), grade, doc["title"] + doc["doc_id"], move, brings]
    gone = {doc["doc_id"] for doc in row["docs"]} - {doc["doc_id"] for doc in other["docs"]}
    assert tables.nth(0).locator("td.move", has_text="gone").count() == len(gone)
    values = opened.locator(".scroll tbody tr").nth(1).locator("td").all_text_contents()
    place = [q["query_id"] for q in report["queries"]].index(row["query_id"])
    assert numbers(values) == pytest.approx([report["values"]["hybrid"][m][place] for m, _, _ in MEASURES], abs=5.1e-4)
    assert page.evaluate("document.activeElement.className") == "open"


def test_a_list_that_the_report_lacks_is_not_called_empty(open_page: Any) -> None:
    report = sample_report(queries=30)
    query = report["lists"][0]["query_id"]
    report["lists"] = [r for r in report["lists"] if (r["query_id"], r["system"]) != (query, "neural")]
    page = open_page(render_html(report), f"#queries&open={query}&system=neural&baseline=keyword")
    opened = page.locator("tr.detail")
    assert opened.locator("table.list").count() == 0
    assert "The two lists are not in this file" in opened.text_content()
    page.get_by_role("combobox", name="Comparison").select_option("hybrid against keyword")
    assert opened.locator("table.list").count() == 2
    assert "returned nothing" not in opened.text_content()


def test_a_query_that_filters_hide_is_shown_nevertheless(show: Any) -> None:
    page = show(1000, "#queries&find=nothing-has-this&open=q00777")
    assert page.locator("#query-table tr.detail").count() == 1
    assert page.locator("[aria-expanded=true]").is_visible()
    assert page.get_by_label("Filter by text").input_value() == ""
    assert page.locator("#query-table > tbody > tr[data-index]").count() == 100
    page.get_by_role("link", name="Link to this query").click()
    assert state(page)["open"] == ["q00777"]


def test_odd_ids_have_links_too(show: Any) -> None:
    page = show(20, hostile=True)
    page.get_by_role("button", name="<b>bold</b>").click()
    assert state(page) == {"open": ["q00004&b=c #d/ü%"]}
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    assert page.locator("tr.detail h3").text_content() == "<b>bold</b>"
    assert page.heard == []


@pytest.mark.parametrize(
    "address", ["#queries&sort=nothing&page=99&open=none&in.length=none", "#%E0", "#queries&page=x"]
)
def test_a_wrong_address_shows_the_table(show: Any, address: str) -> None:
    page = show(30, address)
    assert len(column(page, "id")) == 30
    assert page.heard == []


def test_thousands_of_queries_are_paged(show: Any) -> None:
    page, report = show(1000), report_of(1000)
    ids = [query["query_id"] for query in report["queries"]]
    assert column(page, "id") == ids[:100]
    page.get_by_role("button", name="later →").click()
    assert column(page, "id") == ids[100:200]
    assert state(page) == {"page": ["2"]}
    page.get_by_label("Filter by text").fill("q0077")
    assert state(page) == {"find": ["q0077"]}
    assert not page.get_by_role("group", name="Pages").is_visible()


def test_twenty_thousand_rows_sort_and_open_quickly(show: Any) -> None:
    page = show(20_000)
    time = """(name) => {
        const buttons = Array.from(document.querySelectorAll("#query-table thead button"));
        const button = buttons.find((one) => one.textContent === name);
        const times = [0, 1, 2, 3].map(() => {
            const start = performance.now();
            button.click();
            document.body.offsetHeight;
            return performance.now() - start;
        });
        return Math.min(...times);
    }"""
    assert page.evaluate(time, "difference") < 300
    assert page.evaluate(time, "query") < 300
    assert page.locator("#query-table > tbody > tr").count() == 100
    texts = column(page, "query")
    assert texts == sorted(texts, key=lambda text: text.replace("4k", "000000000000004k"), reverse=True)


def test_the_keyboard_moves_over_rows_and_opens_them(show: Any) -> None:
    page = show(30)
    assert page.locator("button.open[tabindex='0']").count() == 1
    page.locator("button.open").first.focus()
    for key, row in (("ArrowDown", 1), ("End", 29), ("ArrowDown", 29), ("Home", 0), ("PageDown", 10), ("ArrowUp", 9)):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.closest('tr').dataset.index") == str(row)
    page.keyboard.press("Enter")
    assert page.locator("tr.detail").count() == 1
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    page.keyboard.press("Enter")
    assert page.locator("tr.detail").count() == 0
    assert page.evaluate("document.activeElement.closest('tr').dataset.index") == "9"


def test_the_download_holds_the_rows_and_starts_no_formula(show: Any, tmp_path: Path) -> None:
    page, report = show(20, hostile=True), report_of(20, hostile=True)
    page.get_by_role("combobox", name="Comparison").select_option("hybrid against keyword")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download these rows (CSV)").click()
    path = tmp_path / "down.csv"
    waiting.value.save_as(path)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 20
    assert [row["query"] for row in rows[:5]] == [
        "'=HYPERLINK(1)",
        "'-1+1 red",
        '"quoted", text',
        "<b>bold</b>",
        "'@sum",
    ]
    assert [row["id"] for row in rows][4:] == [query["query_id"] for query in report["queries"]][4:]
    for row, value, gap in zip(rows, report["values"]["hybrid"][MEASURE], gaps(report), strict=True):
        assert row["hybrid"] == ("" if value is None else f"{value:.{len(row['hybrid'].split('.')[-1])}f}")
        assert (row["difference"] == "") == (gap is None)
        if gap is not None:
            assert float(row["difference"]) == pytest.approx(gap, abs=5.1e-3)
    assert [int(row["frequency"]) for row in rows] == [q["attributes"]["frequency"] for q in report["queries"]]


def test_examples_lead_to_the_table(show: Any) -> None:
    page = show()
    page.locator("#e1-wins-1 summary").click()
    page.locator("#e1-wins-1").get_by_role("link").click()
    # the row opens when the page hears of its new address
    page.locator("#query-table tr.detail table.list").nth(1).wait_for()
    assert page.locator("#query-table tr.detail table.list").count() == 2
    text = page.locator("#e1-wins-1 .query").evaluate("(query) => query.firstChild.textContent.trim()")
    assert page.locator("#query-table tr.detail h3").text_content() == text


def test_paper_gets_the_ends(show: Any) -> None:
    page, found = show(1000), sorted((gap for gap in gaps(report_of(1000)) if gap is not None), reverse=True)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    shown = numbers(column(page, "difference"))
    assert shown == pytest.approx(found[:10] + found[-10:], abs=5.1e-4)
    caption = page.locator("#query-table > caption").text_content()
    assert caption.endswith("printed: 10 highest, 10 lowest of 1,000")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("#query-table > tbody > tr").count() == 100


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (400, "light"),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in ((400, "dark"), (1280, "light"), (1280, "dark"))),
    ],
)
def test_axe_finds_no_violation_in_an_opened_query(show: Any, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    address = f"#queries&open={report_of(24)['lists'][0]['query_id']}&outcome=better&sort=-difference"
    page = show(24, address, color_scheme=scheme, viewport={"width": width, "height": 800}, bypass_csp=True)
    assert page.locator("tr.detail").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(page)
    told = [
        (v["id"], v["nodes"][0]["html"][:200], v["nodes"][0]["failureSummary"]) for v in found.response["violations"]
    ]
    assert told == []
