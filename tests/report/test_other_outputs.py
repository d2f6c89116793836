"""LaTeX, flat tables, notebook fragment and separate figures: from the same page model, whole and harmless."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstats.errors import PlanError
from rankstats.report.figures_files import figure_files
from rankstats.report.folder import table_files
from rankstats.report.latex import escaped, render_latex
from rankstats.report.notebook import notebook_html
from rankstats.report.tables import flat_tables
from tests.report.reading import Page
from tests.report.sample import MEASURES, hostile_report, sample_report


def environments(latex: str) -> list[tuple[str, str]]:
    return re.findall(r"\\begin\{(tabular|longtable)\}(.*?)\\end\{\1\}", latex, re.DOTALL)


def test_latex_tables_are_whole() -> None:
    for report in (sample_report(), hostile_report(), sample_report(8, 40, compare="all-pairs")):
        latex = render_latex(report)
        assert not [c for c in latex if c in "\x00\x1b\u202e\ud800"]
        bare = re.sub(r"\\[\\{}]", "", latex)
        assert bare.count("{") == bare.count("}")
        names = re.findall(r"\\(begin|end)\{(\w+)\}", latex)
        opened: list[str] = []
        for kind, name in names:
            if kind == "begin":
                opened.append(name)
            else:
                assert opened.pop() == name
        assert not opened
        for _, body in environments(latex):
            columns = re.match(r"\{([lr]+)\}", body)
            assert columns is not None
            rows = [line for line in body.splitlines() if line.endswith(r" \\")]
            assert rows
            for row in rows:
                assert len(re.findall(r"(?<!\\)&", row)) == len(columns[1]) - 1
        labels = re.findall(r"\\label\{([^}]*)\}", latex)
        assert len(labels) == len(set(labels))


def test_latex_needs_nothing_but_what_it_names() -> None:
    known = re.findall(
        r"\w+",
        "usepackage begin end centering small caption label toprule midrule bottomrule endhead endlastfoot scriptsize "
        "footnotesize par medskip textsuperscript leq geq pm times infty cdot dots tau rho alpha kappa begingroup "
        "endgroup textbackslash textasciitilde textasciicircum textless textgreater textbar textquotesingle "
        "textasciigrave providecommand rankstatsfit sbox ifdim wd linewidth resizebox usebox else fi rankstatsletter "
        "ifcsname detokenize endcsname expandafter gdef csname setlength tabcolsep",
    )
    for report in (sample_report(), hostile_report()):
        latex = render_latex(report)
        assert set(re.findall(r"\\([A-Za-z]+)", latex)) <= set(known)
        assert "\\input" not in latex.replace("textbackslash{}input", "")


@given(st.text(st.characters(codec="utf-8"), max_size=80))
def test_escaped_latex_holds_no_command(text: str) -> None:
    plain = escaped(text)
    for command in ("textbackslash{}", "textasciitilde{}", "textasciicircum{}", "textless{}", "textgreater{}",
                    "textbar{}", "textquotesingle{}", "textasciigrave{}", "dots{}"):  # fmt: skip
        plain = plain.replace(f"\\{command}", "")
    plain = re.sub(r"\$(-|\\(pm|times|leq|geq|infty|cdot|tau|rho|alpha|kappa))\$", "", plain)
    plain = re.sub(r"\\[&%$#_{}]|\{[-[*]\}", "", plain)
    assert not set("\\&%$#_{}^") & set(plain)


def test_stars_follow_the_adjusted_p_and_are_explained() -> None:
    report = sample_report(effects=(0.0, 0.02, 0.03))
    rows = {r["system"]: r for r in report["differences"] if r["measure"] == MEASURES[0][0] and r["segment"] is None}
    latex = render_latex(report)
    body = next(body for _, body in environments(latex) if "baseline mean" in body)
    for line in body.splitlines():
        system = line.split(" & ")[0]
        if system in rows:
            p = rows[system]["p_adjusted"]
            stars = (p <= 0.05) + (p <= 0.01) + (p <= 0.001)
            found = re.search(r"\\textsuperscript\{(\**)\}", line)
            assert len(found[1] if found else "") == stars
    meaning = r"\textsuperscript{*}~adjusted $p \leq 0.05$, \textsuperscript{**}~adjusted $p \leq 0.01$"
    assert meaning in latex
    none = sample_report(effects=(0.0, 0.0, 0.0), seed=4)
    for row in none["differences"]:
        row["p_adjusted"] = 1.0
    for row in none["verdict"]:
        row["outcome"] = "not_shown"
    assert "superscript" not in render_latex(none)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_flat_tables_hold_the_exact_numbers_of_every_row() -> None:
    report = sample_report(weights=True)
    files = table_files(report, ("csv",))
    pairs, segments = rows_of(str(files["pairs.csv"])), rows_of(str(files["segments.csv"]))
    assert len(pairs) + len(segments) == len(report["differences"])
    by_id = {row["id"]: row for row in report["differences"]}
    for row in [*pairs, *segments]:
        known = by_id[row["id"]]
        for key in ("difference", "p_value", "p_adjusted", "mean_system", "n", "wins"):
            assert float(row[key]) == known[key]
        assert float(row["interval_low"]) == known["interval"]["low"]
        assert float(row["adjusted_interval_high"]) == known["adjusted_interval"]["high"]
        if "attribute" in row:
            assert {"attribute": row["attribute"], "value": row["value"]} == known["segment"]
    means = rows_of(str(files["means.csv"]))
    assert [float(row["mean"]) for row in means] == [row["mean"] for row in report["scores"]]
    documents = [(row["query_id"], doc["doc_id"]) for row in report["lists"] for doc in row["docs"]]
    assert [(row["query_id"], row["doc_id"]) for row in rows_of(str(files["lists.csv"]))] == documents
    values = rows_of(str(files["per_query.csv"]))
    assert len(values) == len(report["queries"]) * len(report["systems"]) * len(report["measures"])


def test_every_list_of_rows_becomes_a_table() -> None:
    report = sample_report(documents=True) | {"later": [{"a": 1, "b": None}, {"a": 2.5, "c": "x"}]}
    tables = flat_tables(report)
    assert set(tables) == {
        "agreement", "distributions", "heterogeneity", "later", "lists", "means", "pairs", "ranks", "segments",
        "verdict", "warnings",
    }  # fmt: skip
    assert tables["later"].rows == ((1, None, None), (2.5, None, "x"))
    assert "warnings" not in flat_tables(report | {"warnings": []})


def test_parquet_reads_back() -> None:
    report = sample_report(2, 40)
    files = table_files(report, ("parquet",))
    assert all(name.endswith(".parquet") for name in files)
    frame = pd.read_parquet(io.BytesIO(bytes(files["pairs.parquet"])))  # type: ignore[arg-type]  # text or bytes
    rows = [row for row in report["differences"] if row["segment"] is None]
    assert frame["difference"].tolist() == [row["difference"] for row in rows]
    assert frame["n"].tolist() == [row["n"] for row in rows]
    values = pd.read_parquet(io.BytesIO(bytes(files["per_query.parquet"])))  # type: ignore[arg-type]  # text or bytes
    undefined = sum(v is None for s in report["values"].values() for column in s.values() for v in column)
    assert int(values["value"].isna().sum()) == undefined > 0


@pytest.mark.parametrize("make", [lambda r: table_files(r, ["xls"]), lambda r: figure_files(r, ["gif"])])
def test_an_unknown_format_is_refused_with_the_known_ones(make: Any) -> None:
    with pytest.raises(PlanError, match=r"is no format of \w+ \("):
        make(sample_report(2, 12))


def test_a_notebook_shows_the_answers_without_reaching_beyond_itself() -> None:
    for report in (sample_report(), hostile_report()):
        html = notebook_html(report)
        page = Page(html)
        tags = [tag for tag, _ in page.elements]
        assert not {"script", "link", "img", "iframe", "svg"} & set(tags)
        assert page.ids == []
        assert not [c for c in html if c in "\x00\x1b\u202e\ud800"]
        style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
        assert style is not None
        for selector in re.findall(r"([^{}]+)\{", style[1]):
            alone = re.sub(r":is\([^)]*\)", "", selector)
            assert all(part.strip().startswith(".rankstats") for part in alone.split(","))
        assert len(html) < 40_000
    page = Page(notebook_html(sample_report()))
    assert "hybrid is better than keyword on nDCG@10 (2^rel − 1) by +0.037" in page.text.replace(
        "\N{NO-BREAK SPACE}", " "
    )
    report = sample_report()
    row = next(r for r in report["differences"] if (r["system"], r["measure"]) == ("neural", MEASURES[0][0]))
    line = next(line for table in page.tables.values() for line in table if line[0] == "neural" and "239" in line)
    assert f"{row['difference']:+.3f}".replace("-", "−") in line


def test_a_notebook_cuts_long_tables_and_says_so() -> None:
    names = [f"run{i:02d}" for i in range(30)]
    html = notebook_html(sample_report(names=names, queries=20, segments=False, lists=False))
    assert "(the first 20 of 30 rows)" in html
    assert len(html) < 40_000


def test_figures_are_files_of_their_own_the_same_every_time() -> None:
    report = sample_report(2, 60, segments=False)
    files = figure_files(report)
    assert files == figure_files(report)
    names = {name.rsplit(".", 1)[0] for name in files}
    assert names == {"pairs-1", "waterfall-1", "scatter-1", "distribution-1", "outcomes-1"}
    assert len(files) == 3 * len(names)
    for name, data in files.items():
        start = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[name.rsplit(".", 1)[1]]
        assert data.startswith(start)
        assert b"CreationDate" not in data
    root = ET.fromstring(files["pairs-1.svg"])
    assert root.tag.endswith("svg")


def test_figures_of_hostile_reports_are_drawn() -> None:
    files = figure_files(hostile_report(), ("svg",))
    assert len(files) > 8
    for data in files.values():
        ET.fromstring(data)
        assert b"<script" not in data
