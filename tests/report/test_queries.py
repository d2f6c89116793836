"""The table of all queries: its data say what report.json says, and a page without a script holds the ends."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstats.report.blocks import Example, Examples, Paragraph, QueryTable, Subheading
from rankstats.report.html import render_html
from rankstats.report.lists import Lists
from rankstats.report.model import page_model
from rankstats.report.query_data import coded
from rankstats.report.source import Source
from tests.report.reading import Page
from tests.report.sample import MEASURES, sample_report

pytestmark = pytest.mark.usefixtures("no_figures")


def data_of(report: dict[str, Any]) -> dict[str, Any]:
    """The data of the page model, as JSON gives them back."""
    section = next(section for section in page_model(report).sections if section.key == "queries")
    table = section.blocks[0]
    assert isinstance(table, QueryTable)
    data: dict[str, Any] = json.loads(json.dumps(table.data))
    return data


def shown(value: int | None, decimals: int) -> str:
    """What the script writes for a coded value, in a program of its own."""
    return "None" if value is None else f"{value / 10**decimals:.{decimals}f}"


@pytest.mark.parametrize("options", [{}, {"weights": True}, {"systems": 8, "queries": 60, "compare": "all-pairs"}])
def test_values_differences_and_outcomes_are_those_of_the_report(options: dict[str, Any]) -> None:
    report = sample_report(**options)
    data = data_of(report)
    values = report["values"]
    labels = {label: name for name, label, _ in MEASURES}
    assert [measure["label"] for measure in data["measures"]] == [label for _, label, _ in MEASURES]
    for measure in data["measures"]:
        name, decimals = labels[measure["label"]], measure["decimals"]
        for system, column in zip(data["systems"], measure["values"], strict=True):
            expected = ["None" if v is None else f"{v:.{decimals}f}" for v in values[system][name]]
            assert [shown(v, decimals) for v in column] == expected
        for k, (b, s) in enumerate(data["pairs"]):
            baseline, system = data["systems"][b], data["systems"][s]
            gaps = [
                None if x is None or y is None else y - x
                for x, y in zip(values[baseline][name], values[system][name], strict=True)
            ]
            expected = ["None" if g is None else f"{g:.{decimals}f}".replace("-0.000", "0.000") for g in gaps]
            assert [shown(v, decimals).replace("-0.000", "0.000") for v in measure["differences"][k]] == expected
            row = next(
                r for r in report["differences"]
                if (r["measure"], r["baseline"], r["system"], r["segment"], r["weighting"])
                == (name, baseline, system, None, "weight" if options.get("weights") else None)
            )  # fmt: skip
            letters = measure["outcomes"][k]
            assert [letters.count(letter) for letter in "bew"] == [row["wins"], row["ties"], row["losses"]]
            assert len(letters) == len(gaps)


def test_texts_ids_and_attributes_are_those_of_the_report() -> None:
    report = sample_report()
    report["queries"][5]["query_id"] = "q00006\tand\x00nul"
    data = data_of(report)
    queries = report["queries"]
    assert data["texts"] == [query["attributes"]["text"] for query in queries]
    assert [data["keys"].get(str(i), query_id) for i, query_id in enumerate(data["ids"])] == [
        query["query_id"] for query in queries
    ]
    by_label = {column["label"]: column for column in data["columns"]}
    length = by_label["length"]
    assert [length["texts"][code] for code in length["codes"]] == [query["attributes"]["length"] for query in queries]
    assert by_label["frequency"]["values"] == [query["attributes"]["frequency"] for query in queries]


def test_queries_come_in_the_order_of_their_ids() -> None:
    report = sample_report(queries=24, documents=True)
    given = ["Q10", "é2", "q9", "e1", "10", "9", "e10", "q100"]
    for query, query_id in zip(report["queries"], given, strict=False):
        old, query["query_id"] = query["query_id"], query_id
        for row in report["lists"]:
            row["query_id"] = query_id if row["query_id"] == old else row["query_id"]
    data, page = data_of(report), Page(render_html(report))
    ids = [query["query_id"] for query in report["queries"]]
    # q9 and q00009 are one number: they keep the order of the report
    expected = sorted(ids, key=lambda q: (re.sub(r"\d", "", q).lower().replace("é", "e"), int(re.sub(r"\D", "", q))))
    assert expected[:7] == ["9", "10", "e1", "é2", "e10", "q9", "q00009"]
    assert data["ids"] == expected == [row[1] for row in page.tables["query-table"][1:]]
    texts = {query["query_id"]: query["attributes"]["text"] for query in report["queries"]}
    assert data["texts"] == [texts[query_id] for query_id in expected]
    column = report["values"]["hybrid"][MEASURES[0][0]]
    values = dict(zip(ids, column, strict=True))
    decimals = data["measures"][0]["decimals"]
    shown_values = [shown(value, decimals) for value in data["measures"][0]["values"][1]]
    assert shown_values == ["None" if values[q] is None else f"{values[q]:.{decimals}f}" for q in expected]
    listed = {data["ids"][int(place)] for place in data["lists"]["of"]}
    assert listed == {row["query_id"] for row in report["lists"]}


def test_examples_name_their_place_in_the_table() -> None:
    report = sample_report(queries=24)
    report["queries"].reverse()
    for values in report["values"].values():
        for column in values.values():
            column.reverse()
    data = data_of(report)
    section = next(section for section in page_model(report).sections if section.key == "examples")
    found = [example for block in section.blocks if isinstance(block, Examples) for example in block.examples]
    assert found
    for example in found:
        assert example.query_id == f"id\xa0{data['ids'][example.index]}"
        assert example.text == data["texts"][example.index]


def test_a_query_without_an_answer_says_so_instead_of_what_moved() -> None:
    report = sample_report(2, 40)
    first, *_ = examples_of(report)
    baseline = report["systems"][0]["name"]
    query = first.query_id.partition("\xa0")[2]
    report["audit"]["queries"]["missing"][baseline] = [query]
    report["explanations"] = [
        {"query_id": query, "baseline": baseline, "system": report["systems"][1]["name"], "measure": MEASURES[0][0],
         "moves": [{"doc_id": "d1", "grade": 2, "rank_baseline": None, "rank_system": 1}]}
    ]  # fmt: skip
    assert examples_of(report)[0].facts.startswith(f"{baseline} returned nothing")
    assert "Moved" not in examples_of(report)[0].facts
    report["audit"]["queries"]["missing"][baseline] = []
    assert "Moved: d1" in examples_of(report)[0].facts


def examples_of(report: dict[str, Any]) -> list[Example]:
    section = next(section for section in page_model(report).sections if section.key == "examples")
    return [example for block in section.blocks if isinstance(block, Examples) for example in block.examples]


def test_of_many_comparisons_it_is_said_how_many_the_table_can_show() -> None:
    report = sample_report(13, 30, names=[f"s{k}" for k in range(13)], effects=[k / 100 for k in range(13)])
    section = next(section for section in page_model(report).sections if section.key == "queries")
    (said,) = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    assert said.startswith("On screen the table can show 9 of 12 comparisons. ")


def test_the_comparisons_come_in_the_order_of_the_statements() -> None:
    report = sample_report(8, 60)
    page = page_model(report)
    data = data_of(report)
    order = [f"{data['heads'][s]} against {data['heads'][b]}" for b, s in data["pairs"]]
    examples = next(section for section in page.sections if section.key == "examples")
    headed = [block.text for block in examples.blocks if isinstance(block, Subheading)]
    effects = {row["system"]: row["difference"] for row in report["differences"] if row["id"] in claims(report)}
    assert [effects[text.split(" against ")[0]] for text in order] == sorted(effects.values(), reverse=True)
    assert headed == order[: len(headed)]


def claims(report: dict[str, Any]) -> set[str]:
    return {row["difference_id"] for row in report["verdict"]}


def test_long_texts_stand_in_the_opened_query() -> None:
    report = sample_report(queries=20)
    for i, query in enumerate(report["queries"]):
        query["attributes"] |= {"narrative": f"{i} " + "long words " * 30, "topic": f"topic {i}"}
    data = data_of(report)
    assert "topic" in [column["label"] for column in data["columns"]]
    assert "narrative" not in [column["label"] for column in data["columns"]]
    (detail,) = data["details"]
    assert detail["label"] == "narrative"
    assert [text.split()[0] for text in detail["texts"]] == [str(i) for i in range(20)]
    assert max(map(len, detail["texts"])) <= 241
    assert "narrative stands in every opened query and in per_query.csv." in render_html(report)


@pytest.mark.parametrize(("queries", "longest"), [(20, 240), (2000, 100), (5001, 0)])
def test_long_texts_of_many_queries_take_their_part(queries: int, longest: int) -> None:
    report = sample_report(2, queries, segments=False, lists=False)
    for query in report["queries"]:
        query["attributes"]["narrative"] = "x" * 300
    details = data_of(report)["details"]
    assert [len(text) for detail in details for text in detail["texts"][:1]] == ([longest + 1] if longest else [])


def test_what_is_shown_as_zero_has_no_colour() -> None:
    report = sample_report(queries=20)
    values = report["values"]
    for i, gap in enumerate((1e-7, -1e-7, 0.2)):
        values["hybrid"][MEASURES[0][0]][i] = values["keyword"][MEASURES[0][0]][i] + gap
    section = next(section for section in page_model(report).sections if section.key == "queries")
    table = section.blocks[0]
    assert isinstance(table, QueryTable)
    assert [row[2].tone for row in table.rows[:3]] == ["", "", "better"]


def test_only_moves_of_relevant_documents_are_coloured() -> None:
    report = sample_report(queries=20, documents=True)
    lists = Lists.of(Source(report))
    source = Source(report)
    seen = set()
    for row in report["lists"]:
        if row["system"] != "hybrid":
            continue
        _, after = lists.beside(source, MEASURES[0][0], row["query_id"], ("keyword", "hybrid"))
        for doc, listed in zip(row["docs"], after.documents, strict=True):
            up, down = (listed.move.startswith(arrow) for arrow in "↑↓")
            relevant = bool(doc["grade"])
            assert listed.tone == ("better" if up else "worse" if down else "") * relevant
            seen.add((relevant, up, down))
    assert len(seen) == 6


def test_lists_are_those_of_the_report() -> None:
    report = sample_report(documents=True)
    data = data_of(report)
    lists = data["lists"]
    place = {query["query_id"]: str(i) for i, query in enumerate(report["queries"])}
    for row in report["lists"]:
        found = lists["of"][place[row["query_id"]]][str(data["systems"].index(row["system"]))]
        assert [lists["documents"][d] for d in found["d"]] == [doc["doc_id"] for doc in row["docs"]]
        assert [lists["titles"][str(d)] for d in found["d"]] == [doc["title"] for doc in row["docs"]]
        spoken = [lists["grades"][g][1] for g in found["g"]]
        assert spoken == ["not judged" if d["grade"] is None else f"grade {d['grade']} of 3" for d in row["docs"]]
        brought = [f"{doc['contribution']:.3f}" if doc["contribution"] else "0" for doc in row["docs"]]
        assert found["c"] == brought
        assert "r" not in found


def test_ranks_with_gaps_are_told() -> None:
    report = sample_report()
    report["lists"][0]["docs"] = report["lists"][0]["docs"][::2]
    data = data_of(report)
    found = next(iter(data["lists"]["of"].values()))["0"]
    assert found["r"] == [1, 3, 5, 7, 9]


@pytest.mark.parametrize("queries", [300, 301, 1000])
def test_without_a_script_the_page_holds_all_rows_or_the_ends_and_names_the_file(queries: int) -> None:
    report = sample_report(queries=queries)
    html = render_html(report)
    rows = Page(html).tables["query-table"][1:]
    if queries <= 300:
        assert len(rows) == queries
        assert 'id="query-table-r"' not in html
        return
    assert len(rows) == 50
    values = report["values"]
    measure = MEASURES[0][0]
    pairs = zip(values["keyword"][measure], values["hybrid"][measure], strict=True)
    ordered = sorted((b - a for a, b in pairs if a is not None), reverse=True)
    found = [float(row[2].replace("−", "-")) for row in rows]
    assert found == pytest.approx([*ordered[:25], *ordered[-25:]], abs=5.1e-4)
    assert f"of {queries:,} queries; all of them are in per_query.csv beside this page." in html


@pytest.mark.slow
def test_twenty_thousand_queries_are_quickly_rendered_and_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # with all figures
    report = sample_report(queries=20_000)
    render_html(sample_report(2, 12))  # matplotlib is loaded
    start = time.process_time()
    html = render_html(report)
    assert time.process_time() - start <= 3
    assert len(html.encode()) <= 5_000_000


def test_long_texts_of_many_queries_are_cut() -> None:
    texts = ["word " * 40] * 2001
    data = data_of(sample_report(2, 2001, texts=texts, segments=False))
    assert max(map(len, data["texts"])) < 130
    assert max(map(len, data_of(sample_report(2, 20, texts=texts))["texts"])) == 199


@pytest.mark.parametrize(("values", "measures"), [(300, 3), (299, 2), (100, 1), (1, 1)])
def test_measures_that_do_not_fit_are_left_to_the_file(
    monkeypatch: pytest.MonkeyPatch, values: int, measures: int
) -> None:
    monkeypatch.setattr("rankstats.report.query_data.MOST_VALUES", values)
    # 20 queries of three systems and two comparisons
    assert len(data_of(sample_report(3, 20))["measures"]) == measures


def test_data_cannot_end_their_element() -> None:
    texts = ["</script><script>alert(1)</script>", "<!-- <script>", "a & b", "\u2028 line"]
    report = sample_report(queries=20, texts=texts)
    html = render_html(report)
    assert html.count("<script") == 2
    assert html.count("</script>") == 2
    found = re.search(r'<script type="application/json" id="query-data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    assert json.loads(found[1]) == data_of(report)
    assert data_of(report)["texts"][:3] == texts[:3]


@given(
    st.lists(st.none() | st.floats(-1e15, 1e15) | st.floats(-2, 2), max_size=20),
    st.integers(0, 5),
)
def test_a_code_is_the_number_as_it_is_written(values: list[float | None], decimals: int) -> None:
    for value, code in zip(values, coded(values, decimals), strict=True):
        if value is None:
            assert code is None
        elif isinstance(code, int):
            written = f"{abs(code):0{decimals + 1}d}"
            text = f"{written[: len(written) - decimals]}.{written[len(written) - decimals :]}".rstrip(".")
            assert text == f"{abs(value):.{decimals}f}"
            assert (code < 0) == (value < 0 and code != 0)
        else:
            assert abs(value) >= 1e9
