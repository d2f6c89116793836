"""The direction of imports: one way, checked on the syntax trees of all modules; and what stays unloaded."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "rankstats"
MODULES = sorted(PACKAGE.rglob("*.py"))

LEVELS: tuple[frozenset[str], ...] = (
    frozenset({"errors"}),
    frozenset({"conventions"}),
    frozenset({"wording", "procedure_names"}),
    frozenset({"tables"}),
    frozenset({"inputs", "measures", "stats"}),
    frozenset({"plan"}),
    frozenset({"comparison"}),
    frozenset({"experiment"}),
    frozenset({"interleaving"}),
    frozenset({"decision"}),
    frozenset({"planning"}),
    frozenset({"report", "testing", "api"}),
    frozenset({"cli"}),
)
"""Units from the lowest level to the highest: each may import from lower levels only."""
ASIDE = {"output": {"cli", "report"}, "demo": {"cli"}, "templates": {"report"}}
"""Units beside the levels, and who alone may import them."""
FOUNDATION = {"errors", "conventions"}
"""All that the statistics and the units aside know of this package."""
ONLY_IN = {
    "matplotlib": ("report/figures", "report/svg"),
    "jinja2": ("report/html",),
    "rich": ("cli", "report/terminal"),
    "narwhals": ("inputs/frames", "inputs/lazy_frames", "tables/engines"),
    "duckdb": ("inputs/row_tables", "tables/engines"),
    "polars": ("tables/engines",),
    "pyspark": ("tables/engines",),
    "ibis": ("tables/engines",),
}
"""Libraries that one place alone imports, by the beginning of its path."""
STATISTICS_LIBRARIES = {"numpy", "scipy"}
HEAVY = {"pandas", "scipy", "matplotlib", "pyarrow", "jinja2", "rich", "duckdb"}
SILENT_BUT = ("cli", "__main__")


def level(unit: str) -> int:
    return next(number for number, units in enumerate(LEVELS) if unit in units)


def unit_of(path: str) -> str:
    """The unit of a module path relative to the package: 'stats/flips.py' is of 'stats', '__init__.py' is the root."""
    first = path.split("/", maxsplit=1)[0].removesuffix(".py")
    return "root" if first in {"__init__", "__main__"} else first


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything imported, at the top or inside functions, for types or at run time."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "." * node.level + (node.module or "")
        elif isinstance(node, ast.ImportFrom) and node.module == "rankstats":
            yield from ((node.lineno, f"rankstats.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""


def broken_inside(importer: str, name: str) -> str | None:
    """Why a unit may not import a name of this package, or None."""
    imported = name.split(".")[1] if "." in name else "root"
    if importer in {imported, "root"} or imported in {"root", "__version__"}:
        return None
    if imported in ASIDE:
        allowed = importer in ASIDE[imported]
    elif importer == "stats" or importer in ASIDE:
        allowed = imported in FOUNDATION
    elif any(imported in units for units in LEVELS):
        allowed = level(imported) < level(importer)
    else:
        return f"{name} has no place among the levels"
    return None if allowed else f"{importer} must not import {name}"


def broken_outside(path: str, name: str) -> str | None:
    """Why a module may not import another library, or None."""
    library, importer = name.split(".", maxsplit=1)[0], unit_of(path)
    if library in ONLY_IN and not path.startswith(ONLY_IN[library]):
        return f"{library} belongs in {' and '.join(ONLY_IN[library])}"
    ours = library not in sys.stdlib_module_names
    if importer == "stats" and ours and library not in STATISTICS_LIBRARIES:
        return f"stats knows numpy and scipy only, not {library}"
    if importer in FOUNDATION and ours:
        return f"{importer} knows the standard library only, not {library}"
    return None


def broken_imports(path: str, source: str) -> list[str]:
    """The imports of a module that go the wrong way."""
    problems = []
    for line, name in imports(ast.parse(source)):
        if name.startswith("."):
            problem: str | None = "imports are absolute"
        elif name.split(".")[0] == "rankstats":
            problem = broken_inside(unit_of(path), name)
        else:
            problem = broken_outside(path, name)
        if problem:
            problems.append(f"rankstats/{path}:{line}: {problem}")
    return problems


def noises(path: str, source: str) -> list[str]:
    """Places where a module prints, writes to a standard stream or ends the process."""
    if path.startswith(SILENT_BUT):
        return []
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="print" | "exit" | "quit" as name)):
                found.append((node.lineno, name))
            case ast.Attribute(value=ast.Name(id="sys"), attr="stdout" | "stderr" | "exit" as name):
                found.append((node.lineno, f"sys.{name}"))
            case ast.Raise(exc=ast.Name(id="SystemExit") | ast.Call(func=ast.Name(id="SystemExit"))):
                found.append((node.lineno, "SystemExit"))
    return [f"rankstats/{path}:{line}: {name}" for line, name in found]


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_imports_go_one_way(module: Path) -> None:
    assert broken_imports(relative(module), module.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_the_library_never_prints_and_never_exits(module: Path) -> None:
    assert noises(relative(module), module.read_text(encoding="utf-8")) == []


def test_every_unit_has_a_place() -> None:
    placed = frozenset().union(*LEVELS) | ASIDE.keys() | {"root"}
    assert {unit_of(relative(module)) for module in MODULES} <= placed


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("errors.py", "from rankstats.conventions import Policies"),
        ("conventions.py", "import numpy"),
        ("tables/hits.py", "from rankstats.inputs import read_run"),
        ("inputs/runs.py", "from rankstats.measures import parse"),
        ("measures/names.py", "import rankstats.stats.flips"),
        ("stats/flips.py", "from rankstats.tables import Scores"),
        ("stats/flips.py", "from rankstats import wording"),
        ("stats/flips.py", "if TYPE_CHECKING:\n    import pandas as pd"),
        ("comparison/pairs.py", "from rankstats.experiment import Readout"),
        ("comparison/pairs.py", "def late():\n    from rankstats.report import render"),
        ("comparison/pairs.py", "from rankstats.output import write_file"),
        ("comparison/pairs.py", "from rankstats.demo import make_demo"),
        ("demo/rankers.py", "from rankstats.measures import parse"),
        ("report/page.py", "from matplotlib.figure import Figure"),
        ("report/page.py", "import jinja2"),
        ("report/page.py", "from rich.table import Table"),
        ("plan.py", "from rankstats.novelty import anything"),
        ("plan.py", "from . import errors"),
    ],
)
def test_wrong_imports_are_found(path: str, line: str) -> None:
    assert len(broken_imports(path, line)) == 1


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("stats/flips.py", "import numpy as np\nfrom scipy import stats\nfrom rankstats.errors import PlanError"),
        ("comparison/pairs.py", "from rankstats.plan import Plan\nfrom rankstats.stats import flips"),
        ("report/figures_forest.py", "from matplotlib.figure import Figure"),
        ("report/html.py", "import jinja2\nfrom rankstats import __version__"),
        (
            "cli/demo.py",
            "from rankstats.demo import demo_files\nfrom rankstats.output import write_folder\nimport rich",
        ),
        ("__init__.py", "from rankstats.report import render"),
    ],
)
def test_right_imports_pass(path: str, line: str) -> None:
    assert broken_imports(path, line) == []


@pytest.mark.parametrize(
    "line", ["print(1)", "sys.stderr.write('x')", "sys.exit(2)", "raise SystemExit(2)", "x = sys.stdout", "exit()"]
)
def test_noise_is_found_outside_the_command_line(line: str) -> None:
    assert noises("report/page.py", line) != []
    assert noises("cli/main.py", line) == []


def loaded(*arguments: str) -> set[str]:
    """The top-level modules that a fresh interpreter imports."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    rows = [line.rsplit("|", 1)[1] for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {name.strip().split(".")[0] for name in rows}


@pytest.mark.parametrize(
    "arguments", [("-c", "import rankstats"), ("-m", "rankstats", "--help")], ids=["import rankstats", "--help"]
)
def test_nothing_heavy_is_loaded_before_it_is_needed(arguments: tuple[str, ...]) -> None:
    modules = loaded(*arguments)
    assert "rankstats" in modules
    assert not modules & HEAVY


def test_loading_is_seen() -> None:
    assert "jinja2" in loaded("-c", "import jinja2")


def test_the_statistics_leave_the_slow_parts_of_scipy_to_who_needs_them() -> None:
    slow = {"scipy.stats", "scipy.optimize", "scipy.interpolate"}
    code = f"import sys, rankstats.stats; print(sorted({slow!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
