"""Report mappings made up for the tests: valid, and consistent in all their numbers.

The statistics come from scipy (paired t, Bonferroni), so they owe nothing to the package under test.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]

SYSTEMS = ("keyword", "hybrid", "neural", "bm25+rm3", "splade", "colbert", "popular", "keyword-v2")
EFFECTS = (0.0, 0.031, 0.006, -0.04, 0.05, 0.06, -0.12, 0.0)
MEASURES = (
    ("nDCG(dcg='exp-log2')@10", "nDCG@10 (2^rel − 1)", 1.0),
    ("AP", "AP", 0.7),
    ("P@10", "P@10", 0.5),
)
WORDS = [
    "lamp",
    "oak",
    "table",
    "garden",
    "steel",
    "chair",
    "blue",
    "wireless",
    "kettle",
    "winter",
    "jacket",
    "small",
    "4k",
    "monitor",
    "running",
    "shoes",
    "kids",
]
HOSTILE = (
    "<script>alert(1)</script>",
    "\"' onmouseover='alert(1)",
    "{{ 7 * 7 }} {% raw %}",
    "$x_1$ \\frac{a}{b}",
    "nul\x00byte \x1b[31m",
    "עברית and English",
    "\u202eevil",
    "lone \ud800 surrogate",
    "😀 emoji",
    "x" * 10_000,
    "</title></style>]]>--><!--",
    "=HYPERLINK(1)",
    "\\input{/etc/passwd} % & # _ ~ ^",
    "| a | b |\n|---|---|",
    "a\tb\r\nc\u2028d",
)
"""Texts that break out of markup, formulas, tables, lines or fonts where they are taken for more than text."""
NOTES = """# Why <script>alert(1)</script>

Raw <b>HTML</b>, {{ 7 * 7 }}, an ![image](https://example.org/i.png), [a link](https://example.org/),
[no link](javascript:alert(1)), <img src=x onerror=alert(1)> & $x_1$.

| left | right |
|------|------:|
| a    | 1     |

```html
<script>alert(2)</script>
```
"""
SEGMENTS = (
    ("length", "short (≤ 3 words)", "long (> 3 words)"),
    ("popularity", "head", "torso", "tail"),
)


def sample_report(
    systems: int = 3,
    queries: int = 240,
    *,
    segments: bool = True,
    lists: bool = True,
    weights: bool = False,
    warnings: bool = True,
    distributions: bool = True,
    compare: str = "baseline",
    seed: int = 1,
    texts: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    title: str = "Shop search: hybrid and neural against keyword",
    effects: Sequence[float] = EFFECTS,
    documents: bool = False,
    notes: str | None = None,
) -> dict[str, Any]:
    """Return a report mapping; every difference, interval and p-value follows from its per-query values."""
    rng = np.random.default_rng(seed)
    names = tuple(names or SYSTEMS[:systems])
    ids = [f"q{i:05d}" for i in range(1, queries + 1)]
    attributes = _attributes(rng, queries, segments, texts)
    values = _values(rng, attributes, names, effects)
    weight = rng.integers(1, 40, queries).astype(float) if weights else None
    cells = _cells(attributes, weight) if segments else []
    pairs = list(itertools.combinations(names, 2)) if compare == "all-pairs" else [(names[0], s) for s in names[1:]]
    differences = _differences(values, pairs, cells, weight)
    families = _families(differences)
    primary = [MEASURES[0][0]]
    made = {
        "schema_version": "1",
        "kind": "comparison",
        "title": title,
        "baseline": names[0],
        "primary": primary,
        "alpha": 0.05,
        "compare": compare,
        "systems": [{"name": name, "source": f"runs/{name}.run"} for name in names],
        "measures": [_measure(name, label) for name, label, _ in MEASURES],
        "queries": [
            {"query_id": q, "weight": None if weight is None else float(weight[i]), "attributes": attributes[i]}
            for i, q in enumerate(ids)
        ],
        "values": {s: {m: [_plain(v) for v in values[s][m]] for m, _, _ in MEASURES} for s in names},
        "lists": _lists(rng, ids, names, values, pairs) if lists else [],
        "scores": _scores(values, names, cells, weight),
        "segments": [
            {
                "attribute": attribute,
                "value": value,
                "label": value,
                "n": int(mask.sum()),
                "share": float(mask.mean()),
                "share_of": "traffic" if attribute == "popularity" else "queries",
                "too_few": bool(mask.sum() < 10),
            }
            for attribute, value, mask in cells
        ],
        "differences": differences,
        "families": families,
        "distributions": _distributions(rng, differences) if distributions else [],
        "heterogeneity": _heterogeneity(values, pairs, cells, differences),
        "agreement": _agreement(values, names),
        "audit": _audit(names, ids),
        "warnings": _warnings(names) if warnings else [],
        "verdict": _verdict(differences, primary, weight is not None),
        "decision": None,
        "experiment": None,
        "reproduction": {
            "argv": ["rankstats", "compare", "--qrels", "q.txt", *[f"runs/{name}.run" for name in names]],
            "seed": 0,
            "resamples": 10000,
            "versions": {"rankstats": "0.1.0", "python": "3.11.7", "numpy": "2.4.6"},
            "inputs": [{"name": "q.txt", "sha256": "ab" * 32, "bytes": 12345}],
            "plan": {
                "statistics": {"test": "t", "correction": "bonferroni", "alpha": 0.05},
                "comparison": {"measures": [m for m, _, _ in MEASURES], "segments": ["length", "popularity"]},
            },
        },
    }
    if len(names) > 2:
        made["ranks"] = _ranks(values, names, weight)
    if documents:
        _describe(made["lists"])
    return made if notes is None else made | {"notes": notes}


def hostile_report(queries: int = 40) -> dict[str, Any]:
    """Return a report in which everything that comes from outside is hostile."""
    names = [HOSTILE[0], HOSTILE[9], HOSTILE[13]]
    report = sample_report(
        names=names, queries=queries, texts=HOSTILE, title=f"<img src=x onerror=alert(1)> {HOSTILE[1]}",
        compare="all-pairs", documents=True, notes=NOTES + "\n".join(HOSTILE),
    )  # fmt: skip
    for i, measure in enumerate(report["measures"]):
        measure["label"] = f"{HOSTILE[i + 1]} {i}"
        measure["definition"]["formula"] = HOSTILE[10]
    for i, segment in enumerate(report["segments"]):
        segment["label"] = f"{HOSTILE[i % len(HOSTILE)]} {i}"
    for row in report["heterogeneity"]:
        row["label"] = HOSTILE[4]
    for i, query in enumerate(report["queries"]):
        query["attributes"]["<u>k</u>"] = HOSTILE[i % len(HOSTILE)]
    for row in report["lists"]:
        for i, doc in enumerate(row["docs"]):
            doc["title"] = HOSTILE[i]
    for row in report["warnings"]:
        row |= {"message": HOSTILE[0], "where": f"{names[1]} against {names[0]}"}
    for row in report["verdict"]:
        row["sentence"] = f"{HOSTILE[7]} {HOSTILE[8]}"
    report["reproduction"]["argv"] = list(HOSTILE)
    return report


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _measure(name: str, label: str) -> dict[str, Any]:
    return {
        "name": name,
        "label": label,
        "definition": {"formula": f"{name} as ir_measures computes it", "undefined": "queries without relevant"},
        "higher_is_better": True,
    }


def _attributes(rng: np.random.Generator, n: int, segments: bool, texts: Sequence[str] | None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for i in range(n):
        length = int(rng.integers(1, 7))
        text = texts[i] if texts and i < len(texts) else " ".join(rng.choice(WORDS, length))
        row: dict[str, Any] = {"text": text, "frequency": int(2000 / (i + 1)) + 1}
        if segments:
            row["length"] = SEGMENTS[0][1] if len(text.split()) <= 3 else SEGMENTS[0][2]
            row["popularity"] = "head" if i < 8 else "torso" if i < n // 3 else "tail"
        rows.append(row)
    return rows


def _values(
    rng: np.random.Generator, attributes: list[dict[str, Any]], names: Sequence[str], effects: Sequence[float]
) -> dict[str, dict[str, Floats]]:
    n = len(attributes)
    hardness = rng.beta(2, 2.5, n)
    long = np.array([len(str(row["text"]).split()) > 3 for row in attributes])
    out: dict[str, dict[str, Floats]] = {}
    for i, name in enumerate(names):
        effect = effects[i % len(effects)] * (1 + 2.0 * (long - long.mean()))
        noise = np.where(rng.random(n) < 0.2, 0.0, rng.normal(0, 0.14, n)) if i else np.zeros(n)
        base = np.where(noise == 0, hardness, hardness + noise + effect)
        out[name] = {m: np.clip(np.round(base * scale, 4), 0, 1) for m, _, scale in MEASURES}
        for m, _, _ in MEASURES[:2]:
            out[name][m][-1] = np.nan  # a query without relevant documents
    return out


def _cells(attributes: list[dict[str, Any]], _: Floats | None) -> list[tuple[str, str, NDArray[np.bool_]]]:
    return [
        (attribute, value, np.array([row[attribute] == value for row in attributes]))
        for attribute, *labels in SEGMENTS
        for value in labels
        if any(row[attribute] == value for row in attributes)
    ]


def _interval(low: float, high: float, level: float, method: str) -> dict[str, Any]:
    return {"low": float(low), "high": float(high), "level": level, "method": method, "unbounded": None}


def _one(a: Floats, b: Floats, w: Floats | None, alpha: float) -> dict[str, Any]:
    keep = ~(np.isnan(a) | np.isnan(b))
    a, b = a[keep], b[keep]
    w = np.ones(len(a)) if w is None else w[keep]
    w = w / w.sum()
    d = b - a
    mean = float(w @ d)
    n_eff = float(1 / (w @ w))
    sd = math.sqrt(float(w @ (d - mean) ** 2) * n_eff / max(n_eff - 1, 1))
    se = sd / math.sqrt(n_eff)
    t = mean / se if se else 0.0
    q = float(stats.t.ppf(1 - alpha / 2, max(n_eff - 1, 1)))
    p = float(2 * stats.t.sf(abs(t), max(n_eff - 1, 1)))
    return {
        "n": len(d),
        "n_effective": n_eff,
        "mean_baseline": float(w @ a),
        "mean_system": float(w @ a) + mean,
        "difference": mean,
        "relative_difference": mean / float(w @ a) if float(w @ a) else None,
        "p_value": p,
        "interval": _interval(mean - q * se, mean + q * se, 1 - alpha, "t"),
        "standard_error": se,
        "wins": int((d > 0).sum()),
        "ties": int((d == 0).sum()),
        "losses": int((d < 0).sum()),
        "effect_size": mean / sd if sd else None,
        "smallest_detectable": 2.8 * se,
    }


def _differences(
    values: dict[str, dict[str, Floats]],
    pairs: list[tuple[str, str]],
    cells: list[tuple[str, str, NDArray[np.bool_]]],
    weight: Floats | None,
) -> list[dict[str, Any]]:
    everything = np.ones(len(next(iter(next(iter(values.values())).values()))), dtype=bool)
    rows: list[dict[str, Any]] = []
    confirmatory = len(pairs)
    planned = None if weight is None else "weight"
    for w, column in ((None, None), *([(weight, "weight")] if weight is not None else [])):
        for m, _, _ in MEASURES:
            for a, b in pairs:
                for attribute, value, mask in [(None, None, everything), *cells]:
                    primary = m == MEASURES[0][0] and attribute is None and column == planned
                    members = confirmatory if primary else len(pairs) * 3
                    part = None if w is None else w[mask]
                    one = _one(values[a][m][mask], values[b][m][mask], part, 0.05)
                    adjusted = _one(values[a][m][mask], values[b][m][mask], part, 0.05 / members)["interval"]
                    rows.append(
                        {
                            "id": f"d{len(rows) + 1}",
                            "measure": m,
                            "baseline": a,
                            "system": b,
                            "segment": None if attribute is None else {"attribute": attribute, "value": value},
                            "weighting": column,
                            "estimand": "mean difference over queries",
                            **one,
                            "relative_interval": None,
                            "margin": None,
                            "test": "t",
                            "p_adjusted": min(1.0, one["p_value"] * members),
                            "adjusted_interval": {**adjusted, "level": 0.95, "method": "bonferroni"},
                            "family": "confirmatory" if primary else "exploratory",
                            "role": "confirmatory" if primary else "exploratory",
                            "correction": "bonferroni",
                            "tie_tolerance": 0.0,
                            "higher_is_better": True,
                            "also": [],
                            "also_adjusted": [],
                        }
                    )
    return rows


def _families(differences: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "id": role,
            "role": role,
            "correction": "bonferroni",
            "alpha": 0.05,
            "members": [d["id"] for d in differences if d["family"] == role],
        }
        for role in ("confirmatory", "exploratory")
    ]


def _lists(
    rng: np.random.Generator,
    ids: list[str],
    names: Sequence[str],
    values: dict[str, dict[str, Floats]],
    pairs: list[tuple[str, str]],
) -> list[dict[str, Any]]:
    m = MEASURES[0][0]
    shown: set[int] = set()
    for a, b in pairs:
        d = np.nan_to_num(values[b][m] - values[a][m])
        order = np.argsort(d, kind="stable")
        shown |= set(order[:10].tolist()) | set(order[-10:].tolist())
    rows = []
    for i in sorted(shown):
        pool = [f"item-{rng.integers(100, 999)}-{k}" for k in range(16)]
        grades = dict(
            zip(
                pool,
                [None if g < 0 else int(g) for g in rng.choice([0, 1, 2, 3, -1], 16, p=[0.35, 0.2, 0.15, 0.1, 0.2])],
                strict=True,
            )
        )
        for name in names:
            docs = rng.permutation(pool)[:10].tolist()
            rows.append(
                {
                    "query_id": ids[i],
                    "system": name,
                    "docs": [{"doc_id": doc, "rank": r, "grade": grades[doc]} for r, doc in enumerate(docs, 1)],
                }
            )
    return rows


def _describe(lists: list[dict[str, Any]]) -> None:
    """Give documents titles, and what they bring to the measure."""
    for row in lists:
        for doc in row["docs"]:
            doc["title"] = f"Title of {doc['doc_id']}"
            doc["contribution"] = (2 ** (doc["grade"] or 0) - 1) / math.log2(1 + doc["rank"]) / 10


def _ranks(values: dict[str, dict[str, Floats]], names: Sequence[str], weight: Floats | None) -> list[dict[str, Any]]:
    """Rank by mean; the interval counts the systems that a Bonferroni-corrected t test of all pairs tells apart."""
    measure = MEASURES[0][0]
    pairs = len(names) * (len(names) - 1) // 2
    mean: dict[str, float] = {}
    above, below = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for a, b in itertools.combinations(names, 2):
        one = _one(values[a][measure], values[b][measure], weight, 0.05)
        mean[a], mean[b] = one["mean_baseline"], one["mean_system"]
        if one["p_value"] * pairs <= 0.05:
            worse, better = (a, b) if one["difference"] > 0 else (b, a)
            above[worse] += 1
            below[better] += 1
    return [
        {
            "measure": measure,
            "system": s,
            "weighting": None if weight is None else "weight",
            "mean": mean[s],
            "rank": 1 + sum(mean[other] > mean[s] for other in names),
            "low": 1 + above[s],
            "high": len(names) - below[s],
            "may_be_best": above[s] == 0,
            "level": 0.95,
            "correction": "bonferroni",
        }
        for s in sorted(names, key=lambda name: -mean[name])
    ]


def _scores(
    values: dict[str, dict[str, Floats]],
    names: Sequence[str],
    cells: list[tuple[str, str, NDArray[np.bool_]]],
    weight: Floats | None,
) -> list[dict[str, Any]]:
    rows = []
    for name in names:
        for m, _, _ in MEASURES:
            v = values[name][m]
            keep = ~np.isnan(v)
            for attribute, value, mask in [(None, None, np.ones(len(v), dtype=bool)), *cells]:
                part = v[keep & mask]
                half = 2 * float(part.std(ddof=1)) / math.sqrt(len(part)) if len(part) > 1 else 0.0
                rows.append(
                    {
                        "system": name,
                        "measure": m,
                        "segment": None if attribute is None else {"attribute": attribute, "value": value},
                        "n": len(part),
                        "mean": float(part.mean()),
                        "weighted_mean": None
                        if weight is None
                        else float(np.average(part, weights=weight[keep & mask])),
                        "interval": _interval(part.mean() - half, part.mean() + half, 0.95, "t"),
                    }
                )
    return rows


def _distributions(rng: np.random.Generator, differences: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for d in differences:
        if d["role"] == "confirmatory":
            draws = rng.normal(d["difference"], d["standard_error"], 10000)
            counts, edges = np.histogram(draws, bins=40)
            rows.append({"difference_id": d["id"], "edges": edges.tolist(), "counts": counts.tolist()})
    return rows


def _heterogeneity(
    values: dict[str, dict[str, Floats]],
    pairs: list[tuple[str, str]],
    cells: list[tuple[str, str, NDArray[np.bool_]]],
    differences: list[dict[str, Any]],
) -> list[dict[str, Any]]:
    rows = []
    for m, _, _ in MEASURES:
        for a, b in pairs:
            for attribute in dict.fromkeys(c[0] for c in cells):
                d = values[b][m] - values[a][m]
                parts = [d[mask & ~np.isnan(d)] for name, _, mask in cells if name == attribute]
                if len(parts) < 2 or min(len(x) for x in parts) < 2:
                    continue
                result = stats.f_oneway(*parts)
                pooled = float(np.nanmean(d))
                rows.append(
                    {
                        "measure": m,
                        "baseline": a,
                        "system": b,
                        "attribute": attribute,
                        "label": attribute,
                        "statistic": float(result.statistic),
                        "p_value": float(result.pvalue),
                        "p_adjusted": min(1.0, float(result.pvalue) * 2),
                        "reversal": any(float(x.mean()) * pooled < 0 for x in parts),
                        "q": float(result.statistic),
                        "i_squared": 0.4,
                    }
                )
    return rows


def _agreement(values: dict[str, dict[str, Floats]], names: Sequence[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for (m1, _, _), (m2, _, _) in itertools.combinations(MEASURES, 2):
        means = [[float(np.nanmean(values[s][m])) for s in names] for m in (m1, m2)]
        tau = float(stats.kendalltau(*means).statistic)
        rows.append(
            {"kind": "measures", "what": [m1, m2], "statistic": "kendall_tau_b", "value": tau, "interval": None,
             "n": len(names)}
        )  # fmt: skip
    m = MEASURES[0][0]
    for a, b in itertools.combinations(names, 2):
        keep = ~np.isnan(values[a][m])
        rho = float(stats.spearmanr(values[a][m][keep], values[b][m][keep]).statistic)
        rows.append(
            {"kind": "systems", "what": [m, a, b], "statistic": "spearman", "value": rho,
             "interval": _interval(rho - 0.05, min(1, rho + 0.05), 0.95, "bootstrap"), "n": int(keep.sum())}
        )  # fmt: skip
    rows += [
        {"kind": "grades", "what": [s], "statistic": "kendall_tau_b", "value": 0.21 + 0.03 * i, "interval": None,
         "n": 200}
        for i, s in enumerate(names)
    ]  # fmt: skip
    return rows


def _audit(names: Sequence[str], ids: list[str]) -> dict[str, Any]:
    return {
        "queries": {
            "judged": len(ids),
            "scored": len(ids) - 1,
            "without_relevant": 1,
            "missing": {s: (ids[2:4] if i == 2 else []) for i, s in enumerate(names)},
            "unknown": {s: (3 if i == 1 else 0) for i, s in enumerate(names)},
        },
        "rows": {"judgments": 31201, "runs": {s: 24000 - 13 * i for i, s in enumerate(names)}},
        "duplicates": {"judgments": 0, "documents": dict.fromkeys(names, 0)},
        "ties": {s: {"queries": 3 * i, "documents": 11 * i} for i, s in enumerate(names)},
        "unjudged_at": {"10": {s: min(1.0, 0.04 + 0.07 * i) for i, s in enumerate(names)}},
        "undefined": {MEASURES[0][0]: 1, MEASURES[1][0]: 1},
        "query_table": {"rows": 5200, "judged_without_row": 0, "rows_without_judgments": 4960},
    }


def _warnings(names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "code": "unjudged_gap",
            "severity": "serious",
            "message": f"18 % of {names[-1]}'s top 10 is unjudged ({names[0]} 4 %): its values may be too low; "
            "judge the documents in to_judge.tsv.",
            "where": names[-1],
        },
        {
            "code": "few_queries_carry",
            "severity": "warning",
            "message": "2 queries carry a third of the difference; without them it is smaller.",
            "where": "nDCG@10",
        },
        {"code": "small_segment", "severity": "info", "message": "head has 8 queries: no verdict.", "where": ""},
    ]


def _verdict(differences: list[dict[str, Any]], primary: list[str], weighted: bool) -> list[dict[str, Any]]:
    rows = []
    for d in differences:
        if d["measure"] not in primary or d["segment"] or (d["weighting"] is not None) != weighted:
            continue
        shown = d["p_adjusted"] <= 0.05
        outcome = ("better" if d["difference"] > 0 else "worse") if shown else "not_shown"
        words = {"better": "is better than", "worse": "is worse than", "not_shown": "is not shown to differ from"}
        rows.append(
            {
                "difference_id": d["id"],
                "baseline": d["baseline"],
                "system": d["system"],
                "measure": d["measure"],
                "segment": None,
                "outcome": outcome,
                "sentence": f"{d['system']} {words[outcome]} {d['baseline']} on nDCG@10 (2^rel − 1)"
                f"{':' if outcome == 'not_shown' else ' by'} "
                f"{d['difference']:+.3f}.".replace("-", "−"),
            }
        )
    return rows
