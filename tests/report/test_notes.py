"""The author's notes and the titles of documents: in report.json, on the page, and nothing of them runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstats.errors import InputError
from rankstats.report.folder import LONGEST_NOTES, annotated, json_text, read_notes
from rankstats.report.html import render_html
from rankstats.report.markdown import render_markdown
from rankstats.report.prose import prose_html
from tests.report.reading import Page
from tests.report.sample import HOSTILE, NOTES, sample_report

pytestmark = pytest.mark.usefixtures("no_figures")

ALLOWED = {
    *("p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "a", "hr", "br"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"href", "title", "rel", "class", "start"}


def checked(html: str) -> Page:
    page = Page(html)
    for tag, attributes in page.elements:
        assert tag in ALLOWED, tag
        assert set(attributes) <= ATTRIBUTES, attributes
        href = attributes.get("href")
        assert href is None or not re.match(r"\s*(javascript|data|vbscript|file):", href, re.IGNORECASE)
    return page


def test_notes_are_markdown_without_html() -> None:
    page = checked(prose_html(NOTES))
    tags = [tag for tag, _ in page.elements]
    assert {"h3", "table", "pre", "a"} <= set(tags)
    assert "<script>alert(2)</script>" in page.text
    assert "<b>HTML</b>" in page.text
    links = [attributes["href"] for tag, attributes in page.elements if tag == "a"]
    assert links == ["https://example.org/i.png", "https://example.org/"]


@given(st.text(st.characters(codec="utf-8"), max_size=300))
def test_nothing_in_notes_becomes_another_element(text: str) -> None:
    checked(prose_html(text))


@pytest.mark.parametrize("text", [*HOSTILE, "[a](jAvAsCrIpT:alert(1))", "<a href=x>y</a>", "# a\n" * 50, "> " * 500])
def test_hostile_notes_are_text(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    checked(prose_html(text))


def test_notes_have_a_section_of_their_own_before_the_evidence() -> None:
    html = render_html(sample_report(notes="# Plan\n\nLaunch on *Monday*."))
    sections = [attributes["id"] for tag, attributes in Page(html).elements if tag == "section"]
    assert sections[:3] == ["verdict", "notes", "health"]
    assert "<em>Monday</em>" in html
    assert '<section id="notes"' not in render_html(sample_report())
    assert '<section id="notes"' not in render_html(sample_report(notes="  \n"))
    assert "The author's notes are in report.html." in render_markdown(sample_report(notes="x")).replace("\\", "")


def test_a_report_is_annotated_without_being_changed() -> None:
    report = sample_report()
    before = json.dumps(report)
    known = report["lists"][0]["docs"][0]["doc_id"]
    made = annotated(report, notes="n", titles={known: "A <lamp>"})
    assert json.dumps(report) == before
    assert made["notes"] == "n"
    assert made["lists"][0]["docs"][0]["title"] == "A <lamp>"
    assert "title" not in made["lists"][0]["docs"][1]
    again = json.loads(json_text(made))
    assert render_html(again) == render_html(made)
    assert "A &lt;lamp&gt;<small>" in render_html(made)


def test_notes_are_read_whole_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_bytes(b"\xef\xbb\xbf# Title\r\ntext")
    assert read_notes(path) == "# Title\r\ntext"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8"):
        read_notes(path)
    path.write_bytes(b"x" * (LONGEST_NOTES + 1))
    with pytest.raises(InputError, match="1,000,001 bytes"):
        read_notes(path)
    with pytest.raises(InputError, match="cannot read"):
        read_notes(tmp_path / "absent.md")
