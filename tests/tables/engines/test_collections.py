"""Whole collections: the values by DuckDB and by Polars are those by rankstats in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import rankstats
from rankstats import EngineChoice, Policies
from tests.shared import shared
from tests.tables.made import lines_of

pytestmark = [pytest.mark.slow, pytest.mark.shared]

COLLECTIONS = {
    "data/ir/trec-covid-r5": ("qrels.txt.gz", "runs/*.run.gz"),
    "data/recsys/ml-latest-small-2016": ("qrels.test.txt.gz", "runs_generated/*"),
}
MEASURES = ("AP", "nDCG", "nDCG@10", "RR", "P@10", "R@100", "Bpref", "Judged@10", "infAP", "ERR@20")
LIMITED = EngineChoice("duckdb", memory_limit="512MiB")


def frame_of(path: Path) -> pl.LazyFrame:
    lines = lines_of(path)
    columns = {"query_id": [line[0] for line in lines], "doc_id": [line[2] for line in lines]}
    return pl.LazyFrame({**columns, "score": [float(line[4]) for line in lines]})


@pytest.mark.parametrize("collection", COLLECTIONS)
@pytest.mark.parametrize("ties", ["doc_id", "float32"])
def test_engines_give_the_values_in_memory(collection: str, ties: str) -> None:
    qrels, pattern = COLLECTIONS[collection]
    folder = shared(collection)
    paths = sorted(folder.glob(pattern))
    assert paths
    runs = {path.name: str(path) for path in paths}
    judged, policies = str(folder / qrels), Policies(ties=ties)
    in_memory = rankstats.evaluate(judged, runs, MEASURES, policies=policies, engine="local")
    assert np.isfinite(in_memory.values).mean() > 0.5
    by_duckdb = rankstats.evaluate(judged, runs, MEASURES, policies=policies, engine=LIMITED)
    np.testing.assert_allclose(by_duckdb.values, in_memory.values, rtol=0, atol=1e-12)
    frames = {path.name: frame_of(path) for path in paths}
    by_polars = rankstats.evaluate(judged, frames, MEASURES, policies=policies)
    np.testing.assert_allclose(by_polars.values, in_memory.values, rtol=0, atol=1e-12)


def test_comparisons_where_the_runs_are_give_the_same_report() -> None:
    folder = shared("data/ir/trec-covid-r5")
    paths = sorted((folder / "runs").glob("*.run.gz"))[:3]
    runs = {path.name: str(path) for path in paths}
    reports = []
    for engine in ("local", LIMITED):
        compared = rankstats.compare_systems(
            str(folder / "qrels.txt.gz"), runs, ["nDCG@10", "AP"], engine=engine, resamples=499
        )
        report = compared.to_dict()
        report["audit"].pop("formats")
        reports.append(report)
    assert reports[0] == reports[1]
    assert any(ties["documents"] for ties in reports[0]["audit"]["ties"].values())
