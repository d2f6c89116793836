"""Output of trec_eval -q and of ir_measures -q: lines of measure, query and value, or query, measure and value."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import InputError
from rankstats.inputs.fields import NUMBER
from rankstats.inputs.files import StoredFile
from rankstats.inputs.quoting import plain, quoted
from rankstats.inputs.score_rows import MEAN_QUERY, ScoreRows

_NOT_VALUES = ("runid", "relstring")
"""Measures of trec_eval that describe the run or its list in words."""
# compiled when they are first used
_TREC_EVAL = (
    r"(?:num_(?:q|ret|rel|rel_ret|nonrel_judged_ret)|map|gm_map|ndcg|ndcg_rel|Rndcg|binG|G|recip_rank|bpref|gm_bpref"
    r"|infAP|11pt_avg|utility|yaap|rbp|rbo|Rprec|set_\w+|(?:unj_|relative_)?P|recall|success|map_cut|ndcg_cut"
    r"|iprec_at_recall|Rprec_mult|prefs_\w+|set_F|unj_\w+)(?:_[\d.,]+)?"
)
_IR_MEASURES = (
    r"(?:n?DCG|SDCG|alpha_n?DCG|α_n?DCG|[nN]?ERR(?:8|9|10|11)?|n?ERR_IA|n?NRBP|AP|MAP|AP_IA|RR|MRR|P|Precision|P_IA|R|Recall"
    r"|Rprec|Bpref|RBP|infAP|IPrec|Judged|Success|HitRate|Accuracy|Compat|BPM|INSQ|INST|SetP|SetR|SetF|SetAP|SetRelP"
    r"|StRecall|NumQ|NumRel|NumRet|NumRelRet|runtime)(?:\(.*\))?(?:@[\d.]+)?"
)


class _Lines:
    """The lines of a file, as rows of three fields."""

    def __init__(self, file: StoredFile) -> None:
        self.file = file
        self.numbers: list[int] = []
        self.firsts: list[str] = []
        self.seconds: list[str] = []
        self.values: list[str] = []

    def place(self, row: int) -> str:
        return f"line {self.numbers[row]}"

    def error(self, problem: str, row: int) -> InputError:
        return self.file.error(problem, self.numbers[row])


def read_value_lines(file: StoredFile, system: str, rows: ScoreRows, form: str | None) -> str:
    """Take up the values of one system and return the format of the lines.

    The two formats differ in what stands first. That is seen from the names of measures and from the means, whose query
    is called ``all``; `form` says it instead ('trec_eval' or 'ir_measures').

    Raises
    ------
    InputError
        With the line: a wrong number of fields, or a value that is not a finite decimal number. With the file: lines
        that may be of either format, or means alone.
    """
    lines = _read(file, rows)
    queries, measures = lines.firsts, lines.seconds
    form = form or _recognised(file, lines)
    if form == "trec_eval":
        queries, measures = measures, queries
    values = _values(lines, queries, measures)
    rows.add(lines, queries, [system] * len(queries), measures, values)
    return form


def _read(file: StoredFile, rows: ScoreRows) -> _Lines:
    lines = _Lines(file)
    for number, content in enumerate(_text(file).split("\n"), 1):
        fields = content.split()
        if not fields:
            rows.blank_lines += 1
            continue
        is_value = len(fields) == 3 and NUMBER.fullmatch(fields[2])
        if fields[0].split("_")[0] in _NOT_VALUES and not is_value:
            rows.comment_lines += 1
            continue
        at_tabs = [cell.strip() for cell in content.split("\t")]
        if len(fields) != 3 and len(at_tabs) == 3 and all(at_tabs):
            fields = at_tabs  # an id of several words
        is_first = not lines.numbers
        if len(fields) != 3 or (is_first and not NUMBER.fullmatch(fields[2])):
            raise file.error(_problem(fields, is_first), number)
        lines.numbers.append(number)
        lines.firsts.append(fields[0])
        lines.seconds.append(fields[1])
        lines.values.append(fields[2])
    rows.blank_lines -= file.data.endswith(b"\n")
    return lines


def _recognised(file: StoredFile, lines: _Lines) -> str:
    """Say which format the lines have, where everything that can tell says the same."""
    if not lines.numbers:
        return "trec_eval"
    firsts, seconds = set(lines.firsts), set(lines.seconds)
    told = set()
    if (MEAN_QUERY in firsts) != (MEAN_QUERY in seconds):
        told.add("trec_eval" if MEAN_QUERY in seconds else "ir_measures")
    known = f"{_TREC_EVAL}|{_IR_MEASURES}"
    first_are_measures = all(re.fullmatch(known, name) for name in firsts)
    second_are_measures = all(re.fullmatch(known, name) for name in seconds)
    if first_are_measures != second_are_measures:
        told.add("trec_eval" if first_are_measures else "ir_measures")
    if len(told) == 1:
        return told.pop()
    raise file.error(
        f"the lines may be measure, query and value, or query, measure and value ({quoted(lines.firsts[0])}, "
        f"{quoted(lines.seconds[0])}); say which with --scores-format trec_eval or --scores-format ir_measures"
    )


def _text(file: StoredFile) -> str:
    try:
        return file.data.decode()
    except UnicodeDecodeError as error:
        line = file.data.count(b"\n", 0, error.start) + 1
        raise file.error("is not UTF-8 text; save the file as UTF-8", line) from None


def _values(lines: _Lines, queries: list[str], measures: list[str]) -> NDArray[np.float64]:
    for row, text in enumerate(lines.values):
        if not NUMBER.fullmatch(text) or not np.isfinite(float(text)):
            problem = f"value {quoted(text)} of {plain(measures[row])} is not a finite number"
            raise lines.error(f"{problem} (query {quoted(queries[row])})", row)
    return np.array(list(map(float, lines.values)), np.float64)


def _problem(fields: list[str], is_first: bool) -> str:
    if is_first and len(fields) == 2 and NUMBER.fullmatch(fields[1]):
        return "a measure and its mean, but values of every query are needed (ir_measures and trec_eval need -q)"
    if is_first:
        return (
            "neither a table with a column query_id nor output of trec_eval -q (measure query value) or "
            "ir_measures -q (query measure value); add a column query_id, or name the query id column with --id"
        )
    return f"{len(fields)} field{'s' * (len(fields) != 1)} where 3 are expected (measure query value)"
