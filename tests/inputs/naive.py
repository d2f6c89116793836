"""The plainest reading of TREC files, to compare with: split every line at white space."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from rankstats.tables import Judgments, Ranking


def naive_lines(path: Path) -> list[list[str]]:
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    return [line.split() for line in content.decode("utf-8-sig").split("\n") if line.strip()]


def naive_run(path: Path) -> list[tuple[str, str, float]]:
    return [(fields[0], fields[2], float(fields[4])) for fields in naive_lines(path)]


def naive_judgments(path: Path) -> list[tuple[str, str, float]]:
    return sorted((fields[0], fields[2], float(fields[3])) for fields in naive_lines(path))


def rows_of_run(run: Ranking) -> list[tuple[str, str, float]]:
    queries = [run.query_ids[code] for code in run.query]
    documents: list[Any] = run.doc_ids.to_pylist()
    return list(zip(queries, documents, run.score.tolist(), strict=True))


def rows_of_judgments(judgments: Judgments) -> list[tuple[str, str, float]]:
    queries = [judgments.query_ids[code] for code in judgments.query]
    documents: list[Any] = judgments.doc_ids.to_pylist()
    return list(zip(queries, documents, judgments.grade.tolist(), strict=True))
