"""Every per-query value of the shared collections, computed before by pytrec_eval."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rankstats.conventions import Policies
from rankstats.measures import evaluate_systems, parse_measures
from rankstats.tables import Judgments, Ranking, make_hits
from tests.shared import shared
from tests.tables.made import lines_of, qrels_of, run_of

pytestmark = pytest.mark.shared

FOLDERS = (
    "ir/trec-covid-r5",
    "ir/dl-hard-passage",
    "ir/dl-hard-doc",
    "ir/trec-web-2012",
    "recsys/ml-latest-small-2016",
)
PLAIN = ("AP", "nDCG@10", "RR", "P@10")
AT_2 = ("AP(rel=2)", "nDCG@10", "RR(rel=2)", "P(rel=2)@10")
IN_32_BITS = {("udel_fang_nir", "5"), ("udel_fang_nir", "10"), ("udel_fang_nir", "49"), ("r5.fusion2", "2")}
"""AP values of trec-covid-r5 that need scores as 32-bit floats, as trec_eval 9 and pytrec_eval hold them."""

Table = dict[str, dict[str, list[float]]]


def read(folder: str) -> tuple[Judgments, dict[str, Ranking]]:
    path = shared(f"data/{folder}")
    (qrels,) = path.glob("qrels*")
    runs = sorted(path.glob("runs*/*.run*"))
    return qrels_of(qrels), {run.name.split(".run")[0]: run_of(run) for run in runs}


def expected_of(path: Path) -> Table:
    header, *rows = lines_of(path)
    assert header == ["run", "query", "in_run", "AP", "nDCG@10", "RR", "P@10"]
    table: Table = {}
    for run, query_id, _, *values in rows:
        table.setdefault(run, {})[query_id] = [float(value) for value in values]
    return table


def computed(names: tuple[str, ...], judgments: Judgments, runs: dict[str, Ranking], ties: str) -> NDArray[np.float64]:
    policies = Policies.from_preset("trec_eval", ties=ties)
    hits = [make_hits(judgments, run, policies) for run in runs.values()]
    return evaluate_systems(parse_measures(names), judgments, hits, policies)


def deviations(
    names: tuple[str, ...], judgments: Judgments, runs: dict[str, Ranking], expected: Table, ties: str
) -> set[tuple[str, str, str]]:
    """Return the runs, queries and measures whose values differ by more than 1e-9, and check that none is left out."""
    values = computed(names, judgments, runs, ties)
    assert set(expected) <= set(runs)
    different = set()
    for system, run in enumerate(runs):
        if run not in expected:
            continue
        assert set(expected[run]) == set(judgments.query_ids)
        wanted = np.array([expected[run][query_id] for query_id in judgments.query_ids])
        far = np.abs(values[:, system, :] - wanted) > 1e-9
        different |= {(run, judgments.query_ids[q], names[m]) for q, m in zip(*np.nonzero(far), strict=True)}
    return different


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_per_query_value(folder: str) -> None:
    judgments, runs = read(folder)
    path = shared(f"data/{folder}")
    compared = 0
    for table in path.glob("perquery_trec_eval*"):
        names = AT_2 if "rel2" in table.name else PLAIN
        expected = expected_of(table)
        in_64_bits = deviations(names, judgments, runs, expected, "doc_id")
        assert in_64_bits == ({(*where, "AP") for where in IN_32_BITS} if "covid" in folder else set())
        assert deviations(names, judgments, runs, expected, "float32") == set()
        compared += sum(len(queries) for queries in expected.values()) * len(names)
    assert compared >= 1600
