"""The item table and the histories of a plan, what is left out, and values of all queries together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rankstats.comparison import Evidence, collect
from rankstats.errors import InputError, MeasureError
from rankstats.plan import Columns, Plan

USERS = 12


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Twelve users; the first system lists 15 items each, the second the same three to everybody."""
    qrels, wide, narrow, history = [], [], [], ["user,item"]
    for user in range(USERS):
        qrels.append(f"u{user} 0 i{user} 1")
        listed = [f"i{(user + step) % 20}" for step in range(15)]
        wide += [f"u{user} Q0 {item} {rank} {-rank} wide" for rank, item in enumerate(listed)]
        narrow += [f"u{user} Q0 i{rank} {rank} {-rank} narrow" for rank in range(3)]
        history += [f"u{user},i{user}", f"u{user},i0"]
    items = ["doc_id,popularity,category", *(f"i{i},{1 + i},{'xyz'[i % 3]}" for i in range(20))]
    contents = {"q.txt": qrels, "wide.run": wide, "narrow.run": narrow, "items.csv": items, "history.csv": history}
    for name, lines in contents.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    runs = tuple((name, str(tmp_path / f"{name}.run")) for name in ("wide", "narrow"))
    return Plan(qrels=str(tmp_path / "q.txt"), runs=runs, items=str(tmp_path / "items.csv"))


def notes_of(evidence: Evidence) -> list[str]:
    return list(evidence.audit["notes"])


def test_items_and_histories_are_read_and_audited(plan: Plan) -> None:
    history = plan.items.replace("items.csv", "history.csv") if plan.items else ""
    measures = ("PopularityGap(to='history')@3", "ILD@3", "Coverage@3", "P@3")
    evidence = collect(replace(plan, history=history, measures=measures))
    assert evidence.items is not None
    assert len(evidence.items) == 20
    assert [source.name for source in evidence.sources[-2:]] == [plan.items, history]
    assert all(source.sha256 for source in evidence.sources)
    assert evidence.audit["items"] == {"rows": 20, "left_out": {}}
    assert notes_of(evidence) == []
    first = evidence.scores.query_ids.index("u5")
    # u5 had i5 and i0 (6 and 1 times used); wide lists i5, i6, i7, narrow i0, i1, i2
    np.testing.assert_allclose(evidence.scores.values[first, :, 0], [7 / 3.5 - 1, 2 / 3.5 - 1])
    assert evidence.scores.values[first, :, 1].tolist() == [1, 1]
    assert evidence.scores.totals is not None
    np.testing.assert_allclose(evidence.scores.totals[:, 2], [14 / 20, 3 / 20])
    assert evidence.scores.aggregates()[(0, 2)] == 14 / 20


def test_lists_are_kept_as_deep_as_a_measure_looks(plan: Plan) -> None:
    deep = collect(replace(plan, measures=("Coverage@15", "P@20")))
    assert deep.scores.totals is not None
    assert deep.scores.totals[0, 0] == 1
    assert deep.hits[0].top.rank.max() == 15
    shallow = collect(replace(plan, measures=("Coverage@2", "P@20")))
    assert shallow.hits[0].top.rank.max() == 10


def test_documents_that_the_item_table_lacks_are_left_out_and_said(plan: Plan) -> None:
    path = Path(plan.items or "")
    path.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith(("i1,", "i19,"))))
    measures = ("Novelty@3", "ILD@3", "Coverage@3", "Coverage(catalogue=20)@3", "HitRate@3")
    evidence = collect(replace(plan, measures=measures))
    assert evidence.audit["items"] == {
        "rows": 18,
        "left_out": {name: {"wide": 2, "narrow": 12} for name in ("Novelty@3", "ILD@3", "Coverage@3")},
    }
    assert notes_of(evidence) == [
        f"{system}: {number} of 36 documents among the first 3 are left out of Novelty@3, ILD@3, Coverage@3, because "
        f"{path} lacks them or does not say what is asked"
        for system, number in (("wide", 2), ("narrow", 12))
    ]


def test_an_item_table_of_other_documents_is_refused(plan: Plan) -> None:
    path = Path(plan.items or "")
    path.write_text(path.read_text().replace("\ni", "\nitem "))
    with pytest.raises(InputError, match=r"knows none of the documents that wide lists.*'i0'.*'item 0'.*--item-id"):
        collect(replace(plan, measures=("Coverage@3",)))
    # a measure that takes every document does not ask
    assert collect(replace(plan, measures=("Coverage(catalogue=30)@3", "P@1"))).audit["items"]["left_out"] == {}


def test_named_columns(plan: Plan) -> None:
    columns = Columns(category="popularity", popularity="popularity", item="doc_id")
    evidence = collect(replace(plan, columns=columns, measures=("ILD@3",)))
    assert (evidence.scores.values == 1).all()
    with pytest.raises(InputError, match=r"no column 'kind' \(--category\)"):
        collect(replace(plan, columns=Columns(category="kind"), measures=("ILD@3",)))


def test_without_items_the_measures_that_need_them_are_refused_together(plan: Plan) -> None:
    with pytest.raises(MeasureError) as caught:
        collect(replace(plan, items=None, measures=("ILD@3", "P@3", "Coverage@3")))
    assert [line.split(":")[0] for line in str(caught.value).split("\n")] == ["ILD@3", "Coverage@3"]
    evidence = collect(replace(plan, items=None, measures=("P@3",)))
    assert evidence.items is None
    assert evidence.audit["items"] is None


def test_scores_that_are_no_ratings_are_said(plan: Plan) -> None:
    evidence = collect(replace(plan, measures=("RMSE", "MAE(over='pairs')")))
    # of wide all relevant items stand at rank 1 with score 0; of narrow three are listed, with scores from 0 to −2
    assert notes_of(evidence) == [
        "RMSE, MAE(over='pairs'): 12 of 12 scores of wide lie outside the grades (1 to 1); they are read as predicted "
        "ratings",
        "RMSE, MAE(over='pairs'): 3 of 3 scores of narrow lie outside the grades (1 to 1); they are read as predicted "
        "ratings",
    ]
    assert notes_of(collect(replace(plan, measures=("P@3",)))) == []


def test_subtopics_are_read_where_measures_want_them(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "aspects.txt"
    path.write_text("".join(f"u{u} {1 + i % 2} i{i} 1\n" for u in range(USERS) for i in range(4)))
    aspects = replace(plan, qrels=str(path))
    evidence = collect(replace(aspects, measures=("StRecall@1", "P@1")))
    assert set(evidence.scores.values[:, 1, 0].tolist()) == {0.5}
    assert len(notes_of(evidence)) == 1
    without = collect(replace(aspects, measures=("P@1",)))
    assert without.judgments is not None
    assert without.judgments.subtopics is None
    assert notes_of(without) == []
