"""Every odd file ends in the right values, or in one clear error with file and line and nothing written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval

from rankstats.cli.main import main
from tests.shared import shared

pytestmark = pytest.mark.shared

VALUES = "values"
MADE: dict[str, str] = {
    "01-ties-broken-by-docid/run1.txt": VALUES,
    "01-ties-broken-by-docid/run2.txt": VALUES,
    "02-duplicate-doc-adjacent/run.txt": "run.txt:2: document 'd2' is listed twice for query 'q1', first in line 1; "
    "remove one, or set duplicate_documents = 'first' or 'best'",
    "03-line-with-4-fields/run.txt": "run.txt:6: 4 fields where 6 are expected (qid Q0 docid rank score tag)",
    "04-missing-queries/run.txt": VALUES,
    "05-negative-grades/run.txt": VALUES,
    "06-hash-in-docid/run.txt": VALUES,
    "07-no-topic-overlap/run.txt": "run.txt: answers none of the 2 judged queries: its query ids look like '2024-1', "
    "those of the judgments like '2024-1.X'; check that the files belong together",
    "08-all-scores-equal/run.txt": VALUES,
    "09-negative-scores/run.txt": VALUES,
    "10-tabs-and-spaces/run.txt": VALUES,
    "11-crlf/run.txt": VALUES,
    "12-bom/run.txt": VALUES,
    "13-nan-score/run.txt": "run.txt:2: score 'nan' is not a finite number",
    "14-empty-run/run.txt": "run.txt: the file is empty",
    "15-query-without-relevant/run.txt": VALUES,
    "16-scientific-scores/run.txt": VALUES,
    "17-gz/run.txt.gz": VALUES,
    "18-float32-ties/run.txt": VALUES,
}
R5, SCIFACT, TOY = "ir/trec-covid-r5/qrels.txt.gz", "odd/leaky-scifact/qrels.txt", "odd/real/trectools-qrel1.txt"
REAL: dict[str, tuple[str, str]] = {
    "covid-r1-ixa-ir-filter-query.run.gz": (R5, VALUES),
    "covid-r1-savantx_nist_run_3.run.gz": (R5, VALUES),
    "covid-r2-GUIR_S2_run3.run.gz": (R5, VALUES),
    "scifact-blank-lines.run.gz": (SCIFACT, VALUES),
    "scifact-half-the-queries.run.gz": (SCIFACT, VALUES),
    "scifact-oneword-lines.run.gz": (
        SCIFACT,
        "scifact-oneword-lines.run.gz:101: 1 field where 6 are expected (qid Q0 docid rank score tag)",
    ),
    "scifact-prose-and-rows.txt": (
        SCIFACT,
        "scifact-prose-and-rows.txt:1: 9 fields where 6 are expected (qid Q0 docid rank score tag)",
    ),
    "trectools-input.uic0301_top30": (TOY, "trectools-input.uic0301_top30: answers none of the 3 judged queries"),
    "trectools-r1.run": (TOY, VALUES),
    "trectools-r2.run": (TOY, VALUES),
    "trectools-r3.run": (TOY, VALUES),
    "trectools-r4.run": (TOY, VALUES),
}
NAMES = {"map": "AP", "recip_rank": "RR", "P_10": "P@10", "ndcg_cut_10": "nDCG@10"}


def evaluated(qrels: Path, run: Path, out: Path, *extra: str) -> dict[tuple[str, str], float]:
    measures = f"--measures={','.join(NAMES.values())}"
    arguments = ["evaluate", "--qrels", str(qrels), str(run), "--per-query", "--format", "json", "--quiet", measures]
    assert main([*arguments, "--conventions", "trec_eval", "--output", str(out), *extra]) == 0
    rows = json.loads(out.read_text(encoding="utf-8"))
    return {(row["query_id"], row["measure"]): row["value"] for row in rows}


def fails_with(message: str, qrels: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both commands say it once, exit with 2 and write nothing."""
    for command in (
        ["evaluate", "--qrels", str(qrels), str(run), "--output", str(tmp_path / "out" / "values.tsv")],
        ["compare", "--qrels", str(qrels), f"one={run}", f"two={run}", "--out", str(tmp_path / "out")],
    ):
        capsys.readouterr()
        assert main(command) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert message in printed.err
        assert printed.err.startswith("rankstats: ")
        assert printed.err.count("\n") == 1
        assert not (tmp_path / "out").exists()


def test_the_tables_list_every_file() -> None:
    made, real = shared("data/odd/made"), shared("data/odd/real")
    assert {str(path.relative_to(made)) for path in made.glob("*/run*")} == set(MADE)
    assert {path.name for path in real.glob("*")} - {"trectools-qrel1.txt"} == set(REAL)


@pytest.mark.parametrize("case", MADE)
def test_made_files(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = shared(f"data/odd/made/{case}")
    if MADE[case] != VALUES:
        fails_with(MADE[case], run.parent / "qrels.txt", run, tmp_path, capsys)
        return
    (outcome,) = [
        entry["trec_eval 10.0-rc3 -c"]
        for entry in json.loads(shared("data/odd/made/trec_eval_outcomes.json").read_text())["cases"]
        # trec_eval takes a byte order mark for a part of the id; ours gives what the same files give without one
        if f"{entry['case']}/{entry['run']}" == case.replace("12-bom", "11-crlf")
    ]
    ours = evaluated(run.parent / "qrels.txt", run, tmp_path / "values.json")
    compared = [(query_id, NAMES[name], float(value)) for name, query_id, value in outcome["stdout"] if name in NAMES]
    # trec_eval leaves a query without relevant documents out of its means; ours under its conventions counts it as 0
    skipped = "all" if case.startswith("15-") else None
    for query_id, name, value in compared:
        if query_id != skipped:
            assert ours[(query_id, name)] == pytest.approx(value, abs=5.1e-5)
    assert len(compared) >= 8


def plain_rows(path: Path) -> list[list[str]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return [line.split() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("name", REAL)
def test_real_files(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels_name, outcome = REAL[name]
    qrels, run = shared(f"data/{qrels_name}"), shared(f"data/odd/real/{name}")
    if outcome != VALUES:
        fails_with(outcome, qrels, run, tmp_path, capsys)
        return
    ours = evaluated(qrels, run, tmp_path / "values.json", "--ties", "float32")
    judged: dict[str, dict[str, int]] = {}
    for query_id, _, doc_id, grade in plain_rows(qrels):
        judged.setdefault(query_id, {})[doc_id] = int(grade)
    ranked: dict[str, dict[str, float]] = {}
    for query_id, _, doc_id, _, score, _ in plain_rows(run):
        ranked.setdefault(query_id, {})[doc_id] = float(score)
    theirs: dict[str, Any] = pytrec_eval.RelevanceEvaluator(judged, set(NAMES)).evaluate(ranked)
    for measure, own in NAMES.items():
        expected = [theirs.get(query_id, {}).get(measure, 0.0) for query_id in judged]
        assert [ours[(query_id, own)] for query_id in judged] == pytest.approx(expected, abs=1e-9)
        assert ours[("all", own)] == pytest.approx(np.mean(expected), abs=1e-9)
