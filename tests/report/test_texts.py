"""Markdown and terminal: plain, escaped, complete, and of one mind with the page."""

from __future__ import annotations

import json
import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from rankstats.report.markdown import LONGEST, escaped, render_markdown
from rankstats.report.terminal import render_terminal
from rankstats.report.texts import label, natural_key, shown
from tests.report.sample import MEASURES, sample_report


def test_the_first_line_is_the_verdict() -> None:
    report = sample_report()
    first = render_terminal(report).splitlines()[0]
    assert first == report["verdict"][0]["sentence"].replace("−", "-")


def test_piped_text_has_ascii_minus_and_no_control_characters() -> None:
    report = sample_report(names=["a\x1b[31m", "b\nc", "d" * 200])
    text = render_terminal(report)
    assert "−" not in text
    assert "\xa0" not in text
    assert {c for c in text if unicodedata.category(c) == "Cc"} == {"\n"}
    assert "d" * 200 in text
    assert not [line for line in text.splitlines() if line != line.rstrip()]


def test_a_narrow_terminal_cuts_no_table() -> None:
    report = sample_report()
    tables = [line for line in render_terminal(report).splitlines() if "  " in line]
    narrow = render_terminal(report, 40).splitlines()
    assert [line for line in tables if line in narrow] == tables


def test_differences_in_the_terminal_are_those_of_the_report() -> None:
    report = sample_report()
    text = render_terminal(report)
    for row in report["differences"]:
        if row["segment"] is None and row["measure"] == MEASURES[0][0]:
            difference = re.escape(f"{row['difference']:+.3f}")
            interval = re.escape(" to ".join(f"{row['interval'][end]:+.3f}" for end in ("low", "high")))
            assert re.search(rf"{row['system']} +keyword +{row['n']} +{difference} +\S+ % +{interval}", text)


def test_markdown_fits_and_says_what_is_left_out() -> None:
    report = sample_report(8, 60, compare="all-pairs", names=[f"system-{i}-{'x' * 50}" for i in range(8)])
    text = render_markdown(report)
    assert len(text) <= LONGEST
    assert re.search(r"more tables? (is|are) in report\.html", text)
    assert len(render_markdown(sample_report())) < 20_000
    assert "report.html" not in render_markdown(sample_report())


def test_markdown_tables_have_as_many_cells_in_every_line() -> None:
    text = render_markdown(sample_report(names=["a|b", "<script>", "`c` *d*"]))
    width = None
    for line in text.splitlines():
        if not line.startswith("| "):
            width = None
            continue
        cells = len(re.findall(r"(?<!\\)\|", line))
        assert width in (None, cells)
        width = cells
    assert "<script>" not in text
    assert "a\\|b" in text


@given(st.text(st.characters(), max_size=60), st.integers(5, 80))
def test_what_is_shown_twice_is_shown_once(text: str, longest: int) -> None:
    assert shown(shown(text)) == shown(text)
    assert label(shown(text), longest) == label(text, longest)
    assert "\N{FIRST STRONG ISOLATE}\N{FIRST STRONG ISOLATE}" not in label(shown("עברית"), longest)


def test_ids_are_ordered_by_their_numbers() -> None:
    ordered = ["2", "10", "a-1-b", "a-2", "A-10", "é3", "e4", "q07", "q8", "q9.5", "日本2", "日本10"]
    given = ordered[::-1]
    assert sorted(given, key=natural_key) == ordered


@given(st.text())
def test_any_text_has_a_place(text: str) -> None:
    assert natural_key(text) == natural_key(text.upper().lower()) or not text.isascii()
    assert natural_key(f"{text}9") < natural_key(f"{text}10") or text[-1:].isdigit()


@given(st.text())
def test_escaping_is_complete(text: str) -> None:
    plain = re.sub(r"\\(.)", "", escaped(text), flags=re.DOTALL)
    assert not set("|<>*`_[]") & set(plain)


@given(st.text(st.characters(), max_size=400))
def test_shown_text_is_one_encodable_line(text: str) -> None:
    line = shown(text)
    assert len(line) < 300
    assert len(line.splitlines()) <= 1
    assert not [c for c in line if unicodedata.category(c) in {"Cc", "Cs"}]
    json.dumps(line.encode("utf-8").decode())
