"""An experiment's page with an offline report beside it: the same numbers in JSON and page, valid by the schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import rankstats.report
from rankstats.cli.main import main
from rankstats.report.model import page_model
from tests.experiment.made import units
from tests.experiment.test_offline_online import WHOLE, offline

SCHEMA = json.loads((Path(rankstats.report.__file__).parent / "report.schema.json").read_text(encoding="utf-8"))
HERE = {WHOLE: 0.03, ("country", "de"): 0.05, ("country", "fr"): -0.02, ("topic", "news"): 0.1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = units()
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "cmp.json").write_text(json.dumps(offline(HERE)), encoding="utf-8")
    return tmp_path


def made(folder: Path, *options: str) -> dict[str, Any]:
    asked = ["--metric", "revenue", "--segment", "country", "--quiet", "--out", str(folder / "out")]
    assert main(["ab", str(folder / "rows.csv"), *asked, *options]) == 0
    found: dict[str, Any] = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
    return found


def test_the_page_sets_the_comparison_beside_the_experiment(folder: Path) -> None:
    report = made(folder, "--offline", str(folder / "cmp.json"), "--alias", "old=A", "--alias", "new=B")
    jsonschema.validate(report, SCHEMA)
    assert report["offline"]["answer"].startswith("AP offline and revenue online both show new better than old")
    (section,) = [section for section in page_model(report).sections if section.key == "offline"]
    (table,) = [block for block in section.blocks if getattr(block, "key", "") == "offline-online"]
    where = {row[0].text: row for row in table.rows}  # type: ignore[union-attr]  # a table of texts
    assert set(where) == {"everywhere", "country = de", "country = fr"}
    (whole,) = [row for row in report["differences"] if row["measure"] == "revenue" and row["segment"] is None]
    assert where["everywhere"][2].text == "+0.030"
    assert where["everywhere"][4].text == f"+{whole['difference']:.2f}"
    assert (where["everywhere"][6].text, where["everywhere"][6].note) == ("same", "both shown")
    assert where["country = fr"][6].text == "opposite"
    html = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "segments offline only: topic = news" in html
    assert main(["render", str(folder / "out" / "report.json"), "--out", str(folder / "again")]) == 0
    assert (folder / "again" / "report.html").read_text(encoding="utf-8") == html


def test_without_an_offline_report_there_is_no_section(folder: Path) -> None:
    report = made(folder)
    assert "offline" not in report
    assert all(section.key != "offline" for section in page_model(report).sections)


def test_a_wrong_offline_report_writes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(folder)
    before = {path: path.read_bytes() for path in (folder / "out").iterdir()}
    asked = ["ab", str(folder / "rows.csv"), "--metric", "revenue", "--out", str(folder / "out")]
    for options, message in [
        (["--offline", str(folder / "out" / "report.json")], "offline and online are exchanged"),
        (["--offline", str(folder / "none.json")], "no such file"),
        (["--alias", "old=A"], "--alias is of --offline"),
        (["--offline", str(folder / "cmp.json"), "--alias", "old=A"], "no pair of systems is in both"),
    ]:
        capsys.readouterr()
        assert main([*asked, *options]) == 2
        assert message in capsys.readouterr().err
    assert {path: path.read_bytes() for path in (folder / "out").iterdir()} == before
