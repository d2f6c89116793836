"""The tables for papers, set by pdfLaTeX itself; skipped where it is not installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankstats.report.latex import render_latex
from tests.report.kinds import report
from tests.report.sample import HOSTILE, hostile_report, sample_report

PACKAGES = ("booktabs", "graphicx", "longtable", "textcomp", "fontenc")
FOREIGN = ("日本語の検索", "العربية ١٢٣", "עברית", "a\u0301\u0302", "😀", "Łódź Ærø", "Ωμέγα")

REPORTS: dict[str, Callable[[], dict[str, Any]]] = {
    "hostile": hostile_report,
    "foreign": lambda: sample_report(names=FOREIGN, queries=24, lists=False),
    "commands": lambda: sample_report(names=(*HOSTILE[:5], HOSTILE[10], HOSTILE[12]), queries=24, lists=False),
    "many": lambda: report("many"),
    "experiment": lambda: report("experiment"),
    "sample": lambda: sample_report(4, 60, compare="all-pairs", weights=True),
}


@pytest.fixture(scope="module")
def pdflatex() -> str:
    found = shutil.which("pdflatex")
    look = shutil.which("kpsewhich")
    if not found or not look:
        pytest.skip("no pdflatex on this machine (apt-get install texlive-latex-recommended)")
    for package in PACKAGES:
        place = subprocess.run([look, f"{package}.sty"], capture_output=True, text=True, check=False)
        if not place.stdout.strip():
            pytest.skip(f"LaTeX lacks the package {package} (apt-get install texlive-latex-recommended)")
    return found


@pytest.mark.parametrize("name", REPORTS)
def test_the_tables_compile_and_nothing_runs_off_the_page(name: str, pdflatex: str, tmp_path: Path) -> None:
    (tmp_path / "tables.tex").write_text(render_latex(REPORTS[name]()), encoding="utf-8")
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage[margin=2cm]{geometry}"
        "\\usepackage{booktabs,graphicx,longtable,textcomp}\n\\begin{document}\\input{tables.tex}\\end{document}\n",
        encoding="utf-8",
    )
    command = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=120)
    log = (tmp_path / "paper.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, re.findall(r"^!.*", log, re.MULTILINE)
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000
    wide = [float(size) for size in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\) in alignment", log)]
    assert not [size for size in wide if size > 10], wide
