"""Input files in which every text is hostile: a comparison of runs, ready-made values, an experiment."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.report.sample import HOSTILE, NOTES

TEXTS = (
    *(text for text in HOSTILE if "\ud800" not in text and "\x00" not in text),
    "-1+1",
    "@sum",
    "\tTAB",
    "日本語の検索クエリ" * 30,
    "العربية ١٢٣",
    "nul-like \x01 byte \x1b[31m",
)
"""What a file can hold; a NUL is refused by the readers where it stands in a table."""
NAMES = (HOSTILE[0], HOSTILE[5], HOSTILE[3], HOSTILE[2])


def _write(path: Path, rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)


def comparison_command(folder: Path, queries: int = 40) -> list[str]:
    """Write judgments, runs, queries, titles, notes and a plan; return the command that compares them."""
    rnd = random.Random(1)
    documents = [f"doc<{k}>&'\"$_{k}$" for k in range(14)]
    ids = [f"q{i}" for i in range(queries)]
    judged = [f"{q} 0 {d} {rnd.choice([0, 0, 1, 2])}" for q in ids for d in documents[:9]]
    (folder / "qrels.txt").write_text("\n".join(judged) + "\n", encoding="utf-8")
    runs = {}
    for name in NAMES[:3]:
        lines = []
        for q in ids:
            order = rnd.sample(documents, 12)
            lines += [f"{q} Q0 {d} {rank} {50 - rank} tag" for rank, d in enumerate(order, 1)]
        runs[name] = f"run{len(runs)}.txt"
        (folder / runs[name]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    texts = [TEXTS[i % len(TEXTS)] + (f" {i}" if i >= len(TEXTS) else "") for i in range(queries)]
    rows = [
        (q, text, TEXTS[i % 4], f"{TEXTS[i % 7][:50]}{i % 14}")
        for i, (q, text) in enumerate(zip(ids, texts, strict=True))
    ]
    _write(folder / "queries.csv", [("query_id", "text", "<b>kind</b>", "cluster"), *rows])
    titles = [(d, TEXTS[k % len(TEXTS)]) for k, d in enumerate(documents)]
    _write(folder / "titles.csv", [("doc_id", "title"), *titles])
    (folder / "notes.md").write_text(NOTES + "\n\n".join(TEXTS), encoding="utf-8")
    named = ", ".join(f"{json.dumps(name)} = {json.dumps(path)}" for name, path in runs.items())
    plan = f'schema_version = "1"\n[inputs]\nqrels = "qrels.txt"\nruns = {{ {named} }}\n'
    (folder / "plan.toml").write_text(plan, encoding="utf-8")
    return [
        "compare", "--plan", str(folder / "plan.toml"), "--queries", str(folder / "queries.csv"),
        "--segment", "<b>kind</b>", "--cluster", "cluster", "--documents", str(folder / "titles.csv"),
        "--notes", str(folder / "notes.md"), "--title", f"<img src=x onerror=alert(1)> {HOSTILE[1]} {HOSTILE[6]}",
        "--measures", "nDCG@10,AP", "--resamples", "199",
    ]  # fmt: skip


def scores_command(folder: Path) -> list[str]:
    """Write ready-made values of systems and measures with hostile names; return the command."""
    rnd = random.Random(2)
    ids = [text.replace("\t", " ").strip() or "empty" for text in TEXTS]
    systems, measures = (HOSTILE[0], HOSTILE[9], HOSTILE[12]), (HOSTILE[3], HOSTILE[2], HOSTILE[11])
    rows = [(q, s, m, round(rnd.random() + 0.3 * (s == systems[1]), 4)) for q in ids for s in systems for m in measures]
    _write(folder / "scores.csv", [("query_id", "system", "measure", "value"), *rows])
    return ["compare", "--scores", str(folder / "scores.csv"), "--resamples", "199"]


def experiment_command(folder: Path) -> list[str]:
    """Write units with hostile arms, metrics and segments; return the command."""
    rnd = random.Random(3)
    rows = [(f"u{i}", NAMES[i % 3], round(rnd.random() + 0.2 * (i % 3 == 1), 4), TEXTS[i % 5]) for i in range(300)]
    _write(folder / "units.csv", [("user", "arm", "$x_1$ <b>", "<i>segment</i>"), *rows])
    return [
        "ab", str(folder / "units.csv"), "--unit", "user", "--arm", "arm", "--control", NAMES[0],
        "--metric", '"$x_1$ <b>"', "--segment", "<i>segment</i>", "--title", HOSTILE[2],
    ]  # fmt: skip


COMMANDS = {"comparison": comparison_command, "scores": scores_command, "experiment": experiment_command}
