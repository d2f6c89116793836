"""Hostile texts from the files to every output: shown as text, whole in machine files, without a command anywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rankstats.cli.main import main
from rankstats.report.notebook import notebook_html
from tests.report.hostile_inputs import COMMANDS, NAMES
from tests.report.reading import Page

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066\u2067]")


@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize("kind", COMMANDS)
def test_every_output_holds_text_and_no_more(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main([*COMMANDS[kind](tmp_path), "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert not CONTROL.search(told)
    assert told.splitlines()[-1] == f"{out / 'report.html'}"
    first = told.splitlines()[0]
    assert re.search(r" is (better|worse|not shown|withheld)| is withheld", first), first
    html = (out / "report.html").read_text(encoding="utf-8")
    page = Page(html)
    tags = [tag for tag, _ in page.elements]
    assert not {"b", "i", "img", "u", "iframe", "object", "form"} & set(tags)
    assert tags.count("script") == (2 if kind != "experiment" else 1)
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        assert (attributes.get("href") or "#").startswith(("#", "data:,", "https://example.org/"))
    assert not CONTROL.search(html)
    assert NAMES[0] in page.text
    summary = (out / "summary.md").read_text(encoding="utf-8")
    assert not CONTROL.search(summary)
    assert not re.search(r"(?<!\\)<(script|img|b|i)\b", re.sub(r"`[^`\n]*`", "", summary))
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert NAMES[0] in {system["name"] for system in report["systems"]}
    shown = notebook_html(report)
    assert not CONTROL.search(shown)
    assert not {"script", "img", "b"} & {tag for tag, _ in Page(shown).elements}


@pytest.mark.usefixtures("no_figures")
def test_machine_files_hold_names_and_texts_exactly(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main([*COMMANDS["comparison"](tmp_path), "--out", str(out), "--quiet"]) == 0
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    texts = {query["attributes"]["text"] for query in report["queries"]}
    for text in ("=HYPERLINK(1)", "-1+1", "@sum", "x" * 10_000, "\u202eevil"):
        assert text in texts
    values = (out / "per_query.csv").read_text(encoding="utf-8")
    assert "=HYPERLINK(1)" in values
    assert "'=HYPERLINK(1)" not in values
