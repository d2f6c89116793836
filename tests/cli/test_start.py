"""How `rankstats evaluate` starts: what it does without, and that threads change nothing."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

DISPENSABLE = {
    *("pandas", "scipy", "narwhals", "duckdb", "rich", "jinja2", "matplotlib"),
    *("pyarrow.compute", "pyarrow.parquet", "pyarrow.fs", "numpy.ma", "hashlib", "tempfile", "tomllib", "gzip"),
    *("rankstats.comparison.result", "rankstats.comparison.segments", "rankstats.measures.ties"),
    *("rankstats.inputs.delimited", "rankstats.inputs.scores", "rankstats.inputs.queries", "rankstats.tables.items"),
}
"""What TREC files need not load: it takes as long as to read a small run, or longer."""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Judgments and two runs of several thousand lines, with ties and repeated scores."""
    chance = random.Random(5)
    queries, documents = [f"q{number}" for number in range(40)], [f"d{number}" for number in range(400)]
    judged = [f"{query} 0 {doc} {chance.randint(0, 3)}\n" for query in queries for doc in chance.sample(documents, 20)]
    (tmp_path / "qrels").write_text("".join(judged), encoding="utf-8")
    for name in ("a.run", "b.run"):
        lines = [
            f"{query} Q0 {doc} 1 {chance.randint(0, 50) / 8} t\n"
            for query in queries
            for doc in chance.sample(documents, 100)
        ]
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    return ["--qrels", str(tmp_path / "qrels"), str(tmp_path / "a.run"), str(tmp_path / "b.run")]


def evaluate(*words: str, threads: int = 2, before: str = "", code: str = "") -> str:
    call = f"{before}\nfrom rankstats.cli.main import main\nassert main({['evaluate', *words]!r}) == 0\n{code}"
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, "-c", call], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_what_a_trec_file_does_without_is_not_loaded(files: list[str]) -> None:
    # some releases of these two load more than others
    before = "import sys, numpy, pyarrow.csv\ntheirs = set(sys.modules)"
    code = f"print('loaded', *sorted({DISPENSABLE!r} & (sys.modules.keys() - theirs)))"
    assert evaluate(*files, "--quiet", before=before, code=code).splitlines()[-1] == "loaded"


def test_threads_change_nothing(files: list[str]) -> None:
    words = [*files, "--per-query", "--format", "tsv", "--measures", "AP,nDCG@10,RR,Judged@10"]
    small = "import rankstats.inputs.fields as fields\nfields.BLOCK_BYTES = 1 << 12\n"
    small += f"assert main({['evaluate', *words]!r}) == 0"
    outputs = {evaluate(*words, threads=threads, code=small) for threads in (1, 2, 4)}
    assert len(outputs) == 1
    whole = outputs.pop()
    assert whole[: len(whole) // 2] == whole[len(whole) // 2 :]
