"""summary.md, read by a CommonMark parser: headings, tables and lists come out as meant, and names stay text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from rankstats.cli.main import main
from rankstats.decision import decide, policy_from_document
from rankstats.plan import Plan
from rankstats.report.blocks import Page, Table
from rankstats.report.junit import render_junit
from rankstats.report.markdown import escaped, page_markdown, render_markdown
from rankstats.report.model import page_model
from tests.decision.made import noise, pair, report_of
from tests.report.sample import sample_report
from tests.shared import shared

pytestmark = pytest.mark.usefixtures("no_figures")

NAMES = (
    *("a|b", "`tick`", "<script>alert(1)</script>", "[x](y)", "__init__ *y* _z_", "two\nlines", "- item", "1. first"),
    *(
        "# head",
        "> quote",
        "=====",
        "~~~",
        "&lt;b&gt;",
        "back\\slash\\",
        "![i](j)",
        "<https://x.y>",
        "|",
        "\\|",
        "2) b",
    ),
    *("2) b", "    four", "+ plus", "---", "<!-- c -->", "``a`b``", "***", "[r]: /url", "\\"),
)
MEANT = {"heading", "paragraph", "strong", "table", "thead", "tbody", "tr", "th", "td", "bullet_list", "list_item"}
"""What a summary may hold beside text and line breaks."""


@dataclass
class Summary:
    """What a reader of the Markdown sees."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    paragraphs: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    tables: list[tuple[str, list[list[str]]]] = field(default_factory=list)
    """Tables under the paragraph before them."""
    kinds: set[str] = field(default_factory=set)


def read(text: str) -> Summary:
    """Parse as strict CommonMark with tables; HTML would be let through, so that it shows among the kinds."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    found, lines = Summary(), text.split("\n")
    for place, token in enumerate(tokens):
        found.kinds.add(token.type.removesuffix("_open").removesuffix("_close"))
        if token.type == "table_open":
            assert token.map is not None
            _check_width(lines[token.map[0] : token.map[1]])
            found.tables.append((found.paragraphs[-1], []))
        if token.type == "tr_open":
            found.tables[-1][1].append([])
        if token.type == "inline":
            shown, opened = _plain(token, found.kinds), tokens[place - 1]
            if opened.type == "heading_open":
                found.headings.append((int(opened.tag[1]), shown))
            elif opened.type in ("th_open", "td_open"):
                found.tables[-1][1][-1].append(shown)
            elif place > 1 and tokens[place - 2].type == "list_item_open":
                found.items.append(shown)
            else:
                found.paragraphs.append(shown)
    return found


def _plain(inline: Token, kinds: set[str]) -> str:
    parts = []
    for child in inline.children or ():
        kinds.add(child.type.removesuffix("_open").removesuffix("_close"))
        parts.append({"softbreak": "\n", "hardbreak": "\n"}.get(child.type, child.content))
    return "".join(parts)


def _check_width(lines: Sequence[str]) -> None:
    """Every line of a table has as many cells as its header: a parser would fill up or cut off in silence."""
    widths = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines}
    assert len(widths) == 1, lines


def _visible(text: str) -> str:
    return " ".join(text.split())


def _cells(table: Table) -> Iterator[list[str]]:
    yield [" ".join(part for part in (column.label, column.note) if part) for column in table.columns]
    for row in table.rows:
        yield [
            " ".join(part for part in (cell.mark, cell.badge, cell.text) if part)
            + (f" ({cell.note})" if cell.note else "")
            for cell in row
        ]


def check(text: str, page: Page) -> Summary:
    """Hold a summary against the page that it sums up: nothing is markup but what the summary means to be."""
    found = read(text)
    assert found.kinds <= MEANT | {"inline", "text", "hardbreak"}, found.kinds
    assert found.headings[0] == (1, _visible(page.title))
    titles = {_visible(section.heading) for section in page.sections}
    assert {title for level, title in found.headings[1:] if level == 2} <= titles
    assert all(level == 2 for level, _ in found.headings[1:])
    blocks = [block for section in page.sections for block in section.blocks]
    tables = [block if isinstance(block, Table) else getattr(block, "table", None) for block in blocks]
    wanted: dict[str, list[Table]] = {}
    for table in tables:
        if isinstance(table, Table):
            wanted.setdefault(_visible(table.caption), []).append(table)
    for caption, rows in found.tables:
        if caption == _headline(page):
            expected = [list(_cells(page.rules))] if page.rules is not None else []
        else:
            expected = [list(_cells(table)) for table in wanted[_visible(caption)]]
        seen = [[_visible(cell) for cell in row] for row in rows]
        assert seen in [[[_visible(cell) for cell in row] for row in one] for one in expected], caption
    for said in page.statements:
        lines = "\n".join([f"{said.mark} {said.headline}", *said.details])
        assert _visible(lines) in {_visible(paragraph) for paragraph in found.paragraphs}
    for notice in page.notices:
        assert _visible(f"{notice.mark} {notice.word}: {notice.full}") in {_visible(item) for item in found.items}
    return found


def _headline(page: Page) -> str:
    return "" if page.decision is None else page.decision.headline


@pytest.mark.parametrize("first", range(0, len(NAMES) - 2, 3))
def test_hostile_names_stay_text(first: int) -> None:
    names = NAMES[first : first + 3]
    report = sample_report(names=names, queries=20, segments=True, lists=False, distributions=False)
    report["title"] = f"{names[0]} {names[1]}"
    report["warnings"] = [
        {"code": "x", "severity": "warning", "message": f"{name} is odd: {name}", "where": name} for name in names
    ]
    found = check(render_markdown(report), page_model(report))
    shown = "\n".join(
        [*found.paragraphs, *found.items, *(cell for _, rows in found.tables for row in rows for cell in row)]
    )
    for name in names:
        assert _visible(name) in _visible(shown)


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_at_the_start_of_a_line_stays_text(name: str) -> None:
    line = _visible(name)
    found = read(f"Said before\n{escaped(line)}\n\n{escaped(line)}\n\n- {escaped(line)}\n")
    assert found.kinds <= {"paragraph", "bullet_list", "list_item", "inline", "text", "softbreak"}
    assert found.paragraphs == [f"Said before\n{line}", line]
    assert found.items == [line]


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_hostile_rules_stay_text_in_summary_and_junit(place: int) -> None:
    name, outcome = NAMES[place], ("go", "no_go", "cannot_tell")[place % 3]
    names = (name, "new") if place % 2 else ("prod", name)
    difference = {"go": 0.1, "no_go": -0.1, "cannot_tell": 0.01}[outcome]
    report = report_of(
        pair(noise(60, difference, 0.1)),
        plan=Plan(resamples=99),
        systems=[*names],
        columns={"kind": [name, "rest"] * 30},
    )
    part = {"attribute": "kind", "value": report["queries"][0]["attributes"]["kind"]}
    document = {
        "baseline": names[0],
        "candidate": names[1],
        "claim": [{"id": name, "measure": "AP"}],
        "guard": [{"id": f"{name} {name}", "measure": "AP", "margin": 0.04, "segment": part}],
    }
    decision = decide(report, policy_from_document(document))
    assert decision.outcome == outcome
    report["decision"] = decision.to_dict()
    page = page_model(report)
    found = check(page_markdown(page), page)
    rules = found.tables[0][1][1:]
    # those that decide come first
    assert sorted(row[0] for row in rules) == sorted(_visible(rule.title or rule.id) for rule in decision.rules)
    suite = next(iter(JUnitXml.fromstring(render_junit(decision.to_dict()).encode("utf-8"))))
    assert [case.name for case in suite] == [rule.id for rule in decision.rules]
    assert [_result(case) for case in suite] == [rule.outcome for rule in decision.rules]


def _result(case: Any) -> str:
    kinds = [type(result).__name__ for result in case.result]
    return {(): "holds", ("Failure",): "fails", ("Skipped",): "open"}[tuple(kinds)]


# ── real collections ────────────────────────────────────────────────────────────────────────────────────────────────

POLICIES = {
    "go": '[[claim]]\nid = "better_by|5"\nmeasure = "nDCG@10"\nmore_than = 0.05\n',
    "no_go": '[[claim]]\nid = "much *better*"\nmeasure = "nDCG@10"\nmore_than = 0.9\n',
    "cannot_tell": '[evidence]\nqueries = 100000\n[[guard]]\nid = "`AP`"\nmeasure = "AP"\nmargin = 0.3\n',
}
COLLECTIONS = {
    "trec-covid-r5": ("r5.fusion2", "covidex.r5.2s.lr"),
    "dl-hard-passage": ("bm25", "bm25_t5-zs"),
}


@pytest.fixture(scope="module", params=COLLECTIONS)
def compared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A comparison of two runs of a real collection, as compare writes it."""
    before, after = COLLECTIONS[request.param]
    data, out = shared(f"data/ir/{request.param}"), tmp_path_factory.mktemp(request.param)
    runs = [str(data / f"runs/{name}.run.gz") for name in (before, after)]
    asked = ["--measures", "nDCG@10,AP,P@10", "--resamples", "499", "--quiet", "--out", str(out)]
    assert main(["compare", "--qrels", str(data / "qrels.txt.gz"), *runs, *asked]) == 0
    return out, before, after


@pytest.mark.shared
@pytest.mark.parametrize("outcome", [None, *POLICIES])
def test_summaries_of_real_collections(
    compared: tuple[Path, str, str], tmp_path: Path, outcome: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    out, before, after = compared
    if outcome is not None:
        policy = f'baseline = "{before}"\ncandidate = "{after}"\n{POLICIES[outcome]}'
        (tmp_path / "p.toml").write_text(policy, encoding="utf-8")
        asked = ["--policy", str(tmp_path / "p.toml"), "--quiet", "--out", str(tmp_path / "o")]
        status = main(["gate", str(out / "report.json"), *asked])
        printed = capsys.readouterr().out
        assert status == {"go": 0, "no_go": 1, "cannot_tell": 3}[outcome], printed
        out = tmp_path / "o"
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    found = check((out / "summary.md").read_text(encoding="utf-8"), page_model(report))
    assert len(found.tables) >= 2
    if outcome is None:
        return
    assert found.paragraphs[1].startswith({"go": "GO: ", "no_go": "NO-GO: ", "cannot_tell": "CANNOT TELL: "}[outcome])
    xml = JUnitXml.fromfile(str(out / "junit.xml"))
    rules = report["decision"]["rules"]
    assert (xml.tests, xml.failures, xml.errors) == (len(rules), sum(r["outcome"] == "fails" for r in rules), 0)
    assert xml.skipped == sum(rule["outcome"] == "open" for rule in rules)
    (suite,) = xml
    assert suite.name == f"{after} against {before}"
    assert [(case.name, _result(case)) for case in suite] == [(rule["id"], rule["outcome"]) for rule in rules]
    assert all(case.classname.startswith("rankstats.gate.") for case in suite)
