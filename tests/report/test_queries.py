"""The table of all queries: its data say what report.json says, and a page without a script holds the ends."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstats.report.blocks import QueryTable
from rankstats.report.html import render_html
from rankstats.report.model import page_model
from rankstats.report.query_data import coded
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
    report["queries"][5]["query_id"] = "tab\tand\x00nul"
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
