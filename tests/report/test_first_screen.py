"""What keeps a first screen short: warnings that are alike stand together, rules that hold are folded, one sentence."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from rankstats.report.html import render_html
from rankstats.report.markdown import render_markdown
from rankstats.report.model import page_model
from rankstats.report.notices import notices, warned
from rankstats.report.source import Source
from rankstats.report.terminal import render_terminal
from tests.report.kinds import report
from tests.report.reading import Page
from tests.report.sample import sample_report


def alike(n: int, code: str = "corrections_disagree", severity: str = "warning") -> list[dict[str, Any]]:
    return [
        {"code": code, "severity": severity, "message": f"It depends ({i}).", "where": f"s{i} against base, AP"}
        for i in range(n)
    ]


def test_warnings_that_are_alike_stand_together_and_none_is_lost() -> None:
    made = sample_report() | {"warnings": [*alike(26), *alike(2, "tests_disagree"), *alike(3, "ties_decide", "info")]}
    kept = copy.deepcopy(made["warnings"])
    messages = [notice.message for notice in notices(Source(made))]
    assert messages == [
        "The verdict depends on the correction in 26 comparisons; the first is s0 against base, AP.",
        "It depends (0).",
        "It depends (1).",
        "The order of tied scores changes the difference of 3 comparisons; the first is s0 against base, AP.",
    ]
    assert page_model(made).notices_heading == "4 things to know"
    page = Page(render_html(made))
    assert len(page.tables["warnings"]) == 1 + 4
    assert [row[0] for row in page.tables["warnings-1"][1:]] == [f"s{i} against base, AP" for i in range(26)]
    assert [row[1] for row in page.tables["warnings-1"][1:]] == [f"It depends ({i})." for i in range(26)]
    assert len(page.tables["warnings-2"]) == 1 + 3
    for text in (render_terminal(made), render_markdown(made)):
        assert "26 comparisons" in text
    assert made["warnings"] == kept


def test_a_kind_without_words_of_its_own_names_its_first() -> None:
    made = sample_report() | {"warnings": alike(4, "something_new")}
    (notice,) = notices(Source(made))
    assert notice.message == "It depends (0). 3 more are alike."
    assert notice.where == "s0 against base, AP"
    # one place that is warned of several times is no crowd
    same = [row | {"where": "base"} for row in alike(4)]
    assert len(warned(Source(made | {"warnings": same}))) == 4


@pytest.mark.parametrize(("kind", "first"), [("go", ""), ("no-go", "fails"), ("cannot-tell", "open")])
def test_of_many_rules_those_that_hold_are_folded(kind: str, first: str) -> None:
    made = report(kind)
    few = page_model(made)
    assert few.rules_shown == few.rules
    assert few.rules_folded is None
    rules = made["decision"]["rules"]
    held = next(rule for rule in rules if rule["outcome"] == "holds")
    rules += [held | {"id": f"more {i}"} for i in range(8)]
    page = page_model(made)
    assert page.rules is not None
    assert page.rules_folded is not None
    folded = page.rules_folded.rows
    assert {row[1].text for row in folded} == {"holds"}
    standing = () if page.rules_shown is None else page.rules_shown.rows
    assert (*standing, *folded) == page.rules.rows
    assert (standing[0][1].text if standing else "") == first
    tables = Page(render_html(made)).tables
    assert len(tables["rules-held"]) == 1 + len(folded)
    assert ("rules" in tables) == bool(standing)


@pytest.mark.parametrize("kind", ["comparison", "go", "cannot-tell", "experiment", "interleaving"])
def test_a_headline_is_the_beginning_of_the_sentence_of_the_report(kind: str) -> None:
    made = report(kind)
    said = page_model(made).statements
    assert said
    for statement, verdict in zip(said, made["verdict"], strict=False):
        assert verdict["sentence"].startswith(statement.headline)
        assert "%" not in statement.headline
        assert "interval" not in statement.headline


def test_an_odd_name_is_made_fit_for_a_headline() -> None:
    made = sample_report(names=["keyword", "x" * 500])
    headline = page_model(made).statements[0].headline
    assert headline.startswith("xxx")
    assert " than keyword on " in headline or " from keyword on " in headline
    assert "…" in headline
    assert len(headline) < 200
