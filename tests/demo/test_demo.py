"""The demonstration as a whole: the same bytes, the right shape, and wins and losses with reasons."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter, defaultdict

import numpy as np
import pytest

from rankstats.demo import demo_files
from tests.demo.collection import demo, files

DIGEST = "e4ced07049494e7ee2260c7e2f9617fae023f63ded0304fc5c40af495c922c09"


def digest(texts: dict[str, str]) -> str:
    whole = hashlib.sha256()
    for name in sorted(texts):
        whole.update(f"{name}\0{texts[name]}\0".encode())
    return whole.hexdigest()


def test_the_files_are_the_same_bytes_everywhere() -> None:
    assert digest(files()) == DIGEST


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_the_order_of_hashes_changes_nothing(hash_seed: str) -> None:
    code = (
        "import hashlib; from rankstats.demo import demo_files\n"
        "for name, text in demo_files().items(): print(name, hashlib.sha256(text.encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    expected = [f"{name} {hashlib.sha256(text.encode()).hexdigest()}" for name, text in files().items()]
    assert done.stdout.splitlines() == expected


def test_files_are_made_when_no_demo_is_given() -> None:
    assert demo_files() == files()


def test_names_and_columns() -> None:
    assert list(files()) == ["qrels.txt", "keyword.run", "ngram.run", "popular.run", "queries.tsv", "products.tsv"]
    assert files()["queries.tsv"].split("\n", 1)[0] == "query_id\tquery\tfrequency\tcategory\tkind"
    assert {len(line.split()) for line in files()["qrels.txt"].splitlines()} == {4}
    for name in ("keyword", "ngram", "popular"):
        assert {len(line.split(" ")) for line in files()[f"{name}.run"].splitlines()} == {6}
    assert {line.count("\t") for line in files()["queries.tsv"].splitlines()} == {4}
    assert all(text.endswith("\n") and text.isascii() and "\r" not in text for text in files().values())


def test_size() -> None:
    assert len(demo().queries) == 240
    assert 300 <= len(demo().products) <= 600
    assert len({product.doc_id for product in demo().products}) == len(demo().products)
    assert len({query.text for query in demo().queries}) == 240
    assert {grade for *_, grade in demo().qrels} == {0, 1, 2, 3}


def test_pairs_are_judged_once_and_every_query_has_a_wanted_product() -> None:
    pairs = [(query, doc) for query, doc, _ in demo().qrels]
    assert len(set(pairs)) == len(pairs)
    assert {query for query, _, grade in demo().qrels if grade >= 2} == {query.query_id for query in demo().queries}


def popularity() -> dict[str, str]:
    """Cut the queries into head, torso and tail by the share of traffic before them, equal frequencies together."""
    total = sum(query.frequency for query in demo().queries)
    segments = {}
    for query in demo().queries:
        before = sum(other.frequency for other in demo().queries if other.frequency > query.frequency)
        segments[query.query_id] = "head" if before < total / 2 else "torso" if before < total * 0.9 else "tail"
    return segments


def test_no_popularity_segment_is_too_small_to_read() -> None:
    sizes = Counter(popularity().values())
    assert sizes["head"] >= 10
    assert sizes["head"] < sizes["torso"] < sizes["tail"]


def test_every_way_of_writing_occurs() -> None:
    kinds = Counter(query.kind for query in demo().queries)
    assert min(kinds.values()) >= 10
    assert set(kinds) == {
        *("broad", "plain", "attributes", "brand", "natural", "misspelled", "compound", "number", "synonym")
    }
    lengths = [len(query.text.split()) for query in demo().queries]
    assert sum(length > 3 for length in lengths) >= 60
    assert sum(length <= 3 for length in lengths) >= 60


def test_a_few_percent_of_the_top_ten_are_unjudged() -> None:
    judged = {(query, doc) for query, doc, _ in demo().qrels}
    for rows in demo().runs.values():
        top = [(query, doc) for query, doc, rank, _ in rows if rank <= 10]
        assert 0.90 < sum(pair in judged for pair in top) / len(top) < 0.98


def per_query(measure: str) -> dict[str, dict[str, float]]:
    """Values of trec_eval's measures, a missing query counted as 0."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    for query, doc, grade in demo().qrels:
        qrels[query][doc] = grade
    evaluator = pytrec_eval.RelevanceEvaluator(dict(qrels), {measure})
    values = {}
    for name, rows in demo().runs.items():
        run: dict[str, dict[str, float]] = defaultdict(dict)
        for query, doc, _, score in rows:
            run[query][doc] = score
        found = evaluator.evaluate(dict(run))
        values[name] = {query: found.get(query, {}).get(measure, 0.0) for query in qrels}
    return values


def gain(values: dict[str, dict[str, float]], system: str, chosen: list[str]) -> float:
    return float(np.mean([values[system][query] - values["keyword"][query] for query in chosen]))


def test_wins_and_losses_have_the_reasons_that_the_texts_show() -> None:
    values = per_query("ndcg_cut_10")
    of_kind: dict[str, list[str]] = defaultdict(list)
    for query in demo().queries:
        of_kind[query.kind].append(query.query_id)
    assert gain(values, "ngram", of_kind["misspelled"]) > 0.1  # letters in the wrong place
    assert gain(values, "ngram", of_kind["compound"]) > 0.1  # words joined or parted
    assert gain(values, "ngram", of_kind["brand"]) < -0.05  # exact names: look-alike words cost
    assert gain(values, "ngram", sorted(values["ngram"])) > 0
    in_segment: dict[str, list[str]] = defaultdict(list)
    for query_id, segment in popularity().items():
        in_segment[segment].append(query_id)
    assert gain(values, "popular", in_segment["head"]) > 0.05  # accessories stay behind what they belong to
    assert gain(values, "popular", in_segment["tail"]) < 0  # bestsellers lack the wishes of rare queries
