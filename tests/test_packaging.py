"""What the distribution says of itself and what goes into it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

import rankstats

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_lowest_versions_are_the_lower_bounds() -> None:
    bounds = dict(line.split(">=") for line in PROJECT["project"]["dependencies"])
    lines = [line for line in text(".ci/lowest.txt").splitlines() if line and not line.startswith("#")]
    pins = dict(line.split("==") for line in lines)
    assert pins.keys() == bounds.keys()
    for name, pinned in pins.items():
        assert pinned == bounds[name] or re.fullmatch(re.escape(bounds[name]) + r"(\.0)+", pinned), name


def test_every_package_is_distributed() -> None:
    folders = [ROOT / "rankstats", *(path for path in (ROOT / "rankstats").rglob("*") if path.is_dir())]
    packages = {".".join(folder.relative_to(ROOT).parts) for folder in folders if any(folder.glob("*.py"))}
    assert packages | {"rankstats.templates"} == set(SETUPTOOLS["packages"])


def test_every_file_that_is_not_code_is_package_data() -> None:
    for path in (ROOT / "rankstats").rglob("*"):
        if path.is_dir() or path.suffix in {".py", ".pyc"}:
            continue
        package = ".".join(path.parent.relative_to(ROOT).parts)
        patterns = SETUPTOOLS["package-data"].get(package, [])
        assert any(fnmatch(path.name, pattern) for pattern in patterns), f"{path.name} would be missing from the wheel"


def test_templates_are_flat_and_mapped_into_the_package() -> None:
    assert SETUPTOOLS["package-dir"] == {"rankstats.templates": "templates"}
    assert SETUPTOOLS["package-data"]["rankstats.templates"] == ["*"]
    assert [path.name for path in (ROOT / "templates").iterdir() if path.is_dir() and path.name != "__pycache__"] == []


def test_one_version_everywhere() -> None:
    version = PROJECT["project"]["version"]
    assert rankstats.__version__ == version
    assert re.search(rf"^## \[{re.escape(version)}\]", text("CHANGELOG.md"), re.MULTILINE)
    assert re.search(rf"^version: {re.escape(version)}$", text("CITATION.cff"), re.MULTILINE)


def test_the_licence_is_what_the_metadata_say() -> None:
    assert PROJECT["project"]["license"] == "MIT"
    assert text("LICENSE").startswith("MIT License")
    assert re.search(r"^license: MIT$", text("CITATION.cff"), re.MULTILINE)


def test_the_typing_marker_is_there() -> None:
    assert (ROOT / "rankstats" / "py.typed").exists()


def test_the_ci_script_can_be_run() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    assert subprocess.run([bash, "-n", str(script)], check=False).returncode == 0
