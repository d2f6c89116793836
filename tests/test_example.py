"""The rendered example in reports/ is what the demo gives today."""

from __future__ import annotations

import json
import math
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from rankstats.cli.main import main
from tests.shared import ROOT

EXAMPLE = ROOT / "reports" / "example"


def same(first: Any, second: Any) -> bool:
    """Equal, numbers to six digits: another version of a library may round the last one differently."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=1e-6, abs_tol=1e-9)
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


def test_the_example_page_is_the_rendered_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", str(EXAMPLE / "report.json"), "--out", str(tmp_path)]) == 0
    for name in ("report.html", "summary.md"):
        fresh, kept = ((folder / name).read_text(encoding="utf-8") for folder in (tmp_path, EXAMPLE))
        # figures depend on the fonts of the machine; everything else must agree to the letter
        assert re.sub(r"<svg.*?</svg>", "", fresh, flags=re.S) == re.sub(r"<svg.*?</svg>", "", kept, flags=re.S)
    capsys.readouterr()


def test_the_readme_shows_what_the_demo_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^rankstats compare --qrels demo/.*$", readme, flags=re.M)
    assert main(["demo", "--out", str(tmp_path / "demo"), "--quiet"]) == 0
    capsys.readouterr()
    words = [str(tmp_path / word) if word.startswith("demo/") else word for word in shlex.split(command)[1:]]
    assert main([*words, "--out", str(tmp_path / "report")]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] in readme
    assert "reports/keyword-vs-ngram/report.html" in readme
