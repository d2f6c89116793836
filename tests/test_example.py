"""The rendered example in reports/ is what the demo gives today."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from rankstats.cli.main import main
from tests.shared import ROOT

EXAMPLE = ROOT / "reports" / "example"


def same(first: Any, second: Any) -> bool:
    """Equal, numbers to nine digits: another version of a library may round the last one differently."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)
    return bool(first == second)


def test_the_example_is_up_to_date(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--out", str(tmp_path), "--quiet"]) == 0
    kept = json.loads((EXAMPLE / "report.json").read_text(encoding="utf-8"))
    fresh = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    for report in (kept, fresh):
        del report["reproduction"]
        for system in report["systems"]:
            system["source"] = Path(system["source"]).name
    for key in fresh:
        assert same(kept[key], fresh[key]), f"{key} has changed: rankstats demo --out reports/example"
    assert kept.keys() == fresh.keys()
    capsys.readouterr()


def test_the_example_page_is_the_rendered_json(tmp_path: Path) -> None:
    assert main(["render", str(EXAMPLE / "report.json"), "--out", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    kept = (EXAMPLE / "report.html").read_text(encoding="utf-8")
    # figures depend on the fonts of the machine, so the text of the page is what must agree
    for sentence in json.loads((EXAMPLE / "report.json").read_text(encoding="utf-8"))["verdict"]:
        assert sentence["system"] in page
        assert sentence["system"] in kept
    assert page.count("<section") == kept.count("<section")
