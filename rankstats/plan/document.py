"""Plan files: TOML to a plan, and a plan to TOML."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from rankstats.conventions import Policies
from rankstats.errors import InputError, PlanError, did_you_mean
from rankstats.plan.settings import SCHEMA_VERSION, Columns, Plan, is_given


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise PlanError(f"is {value!r}; a text is expected")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise PlanError(f"is {value!r}; a list of texts is expected")
    return tuple(value)


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise PlanError(f"is {value!r}; a whole number is expected")
    return value


def _real(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise PlanError(f"is {value!r}; a number is expected")
    try:
        return float(value)
    except OverflowError:
        raise PlanError("is too large a number") from None


def _margins(value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise PlanError(f'is {value!r}; a table such as {{ "nDCG@10" = 0.01 }} is expected')
    return {str(name): _real(margin) for name, margin in value.items()}


def _mixes(value: Any) -> dict[str, dict[str, float]]:
    if not isinstance(value, dict) or not all(isinstance(shares, dict) for shares in value.values()):
        example = "{ popularity = { head = 0.6, torso = 0.3, tail = 0.1 } }"
        raise PlanError(f"is {value!r}; a table such as {example} is expected")
    return {name: {str(part): _real(share) for part, share in shares.items()} for name, shares in value.items()}


def _directions(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise PlanError(f'is {value!r}; a table such as {{ latency_ms = "lower" }} is expected')
    return {str(name): _text(direction) for name, direction in value.items()}


def _runs(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise PlanError(f'is {value!r}; a table such as {{ prod = "a.run" }} is expected')
    return tuple((str(name), _text(path)) for name, path in value.items())


def _formats(value: Any) -> dict[str, str]:
    if isinstance(value, dict):
        return {str(name): _text(form) for name, form in value.items()}
    return {"": _text(value)}


def _reals(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list):
        raise PlanError(f"is {value!r}; a list of numbers is expected")
    return tuple(_real(item) for item in value)


def _shares(value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise PlanError(f"is {value!r}; a table such as {{ A = 0.5, B = 0.5 }} is expected")
    return {str(name): _real(share) for name, share in value.items()}


def _rows(value: Any) -> tuple[tuple[str | None, str], ...]:
    if isinstance(value, dict):
        return tuple((str(arm), _text(path)) for arm, path in value.items())
    if isinstance(value, str):
        return ((None, value),)
    if not isinstance(value, list):
        raise PlanError(f'is {value!r}; a file, a list of files, or a table {{ A = "a.csv" }} is expected')
    return tuple(_arm_file(item) if isinstance(item, dict) else (None, _text(item)) for item in value)


def _arm_file(item: Mapping[str, Any]) -> tuple[str, str]:
    if set(item) != {"arm", "file"}:
        raise PlanError(f'is {item!r}; a file, or {{ arm = "A", file = "a.csv" }}, is expected')
    return _text(item["arm"]), _text(item["file"])


def _metrics(value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise PlanError("is no list of tables; write [[experiment.metric]]")
    return tuple(_read_keys("experiment.metric", row, _METRIC) for row in value)


_Reader = Callable[[Any], Any]
_LOG_COLUMNS = (
    *("query", "unit", "impression", "ranker_a", "ranker_b"),
    *("position", "team", "clicked", "rank_a", "rank_b"),
)
"""Keys that name a column of an interleaving log."""
_METRIC: dict[str, _Reader] = {
    "name": _text,
    "value": _text,
    "role": _text,
    "better": _text,
    "winsorise": _real,
    "covariate": _texts,
    "margin": _real,
    "margin_relative": _real,
}
_SECTIONS: dict[str, dict[str, _Reader]] = {
    "inputs": {
        "qrels": _text,
        "runs": _runs,
        "scores": _texts,
        "queries": _text,
        "items": _text,
        "history": _text,
        "qrels_format": _text,
        "run_format": _formats,
        "scores_format": _text,
    },
    "columns": {f.name: _text for f in fields(Columns)},
    "comparison": {
        "measures": _texts,
        "primary": _texts,
        "baselines": _texts,
        "better": _directions,
        "compare": _text,
        "segments": _texts,
        "mix": _mixes,
        "title": _text,
    },
    "conventions": {
        "preset": _text,
        **{f.name: _text for f in fields(Policies) if f.name != "preset"},
    },
    "statistics": {
        "test": _text,
        "correction": _text,
        "family": _text,
        "intervals": _texts,
        "alpha": _real,
        "resamples": _whole,
        "seed": _whole,
        "alternative": _text,
        "margin": _margins,
    },
    "experiment": {
        "rows": _rows,
        "unit": _text,
        "arm": _text,
        "control": _text,
        "shares": _shares,
        "assignments": _text,
        "trigger": _text,
        "exposed_at": _text,
        "time": _text,
        "timezone": _text,
        "looks": _reals,
        "look": _whole,
        "design": _text,
        "spending": _text,
        "planned_units": _whole,
        "metric": _metrics,
    },
    "interleaving": {
        "logs": _texts,
        "scheme": _text,
        "outcome": _text,
        "rankers": _texts,
        "list_length": _whole,
        "tau": _real,
        **dict.fromkeys(_LOG_COLUMNS, _text),
        "looks": _reals,
        "look": _whole,
        "design": _text,
        "spending": _text,
        "planned_units": _whole,
    },
}


def read_plan(path: str | Path) -> Plan:
    """Read a plan file.

    Parameters
    ----------
    path : str or Path
        TOML file; paths in it are relative to its folder.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        If the file cannot be read or is not TOML.
    PlanError
        If a section or key is unknown, or a value does not fit.
    """
    import tomllib  # noqa: PLC0415  most plans come from options

    file = Path(path)
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot read the plan: {error.strerror}", path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"not a TOML file: {error}", path) from error
    try:
        return plan_from_document(document, base=file.parent)
    except PlanError as error:
        raise PlanError(f"{path}: {error}") from error


def plan_text(settings: Mapping[str, Any]) -> str:
    """Return a plan as TOML that reads back to the same plan; what is not set is left out.

    Parameters
    ----------
    settings : mapping
        What `Plan.to_dict` gives.

    Examples
    --------
    >>> print(plan_text({"schema_version": "1", "statistics": {"alpha": 0.05, "margin": {"nDCG@10": 0.01}}}))
    schema_version = "1"
    <BLANKLINE>
    [statistics]
    alpha = 0.05
    margin = { "nDCG@10" = 0.01 }
    """
    parts = []
    top = [f"{key} = {_toml(value)}" for key, value in settings.items() if not isinstance(value, Mapping | list)]
    if top:
        parts.append("\n".join(top))
    for section, content in settings.items():
        if isinstance(content, Mapping):
            lines = [f"{key} = {_toml(value)}" for key, value in content.items() if is_given(value)]
            if lines:
                parts.append("\n".join([f"[{section}]", *lines]))
    return "\n\n".join(parts)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # JSON's texts, numbers and truth values are TOML's
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def plan_from_document(document: Mapping[str, Any], *, base: Path | None = None) -> Plan:
    """Return the plan that a parsed TOML document describes.

    Parameters
    ----------
    document : mapping
        Sections of a plan.
    base : Path, optional
        Folder that relative paths start from.

    Examples
    --------
    >>> plan_from_document({"schema_version": "1", "statistics": {"alpha": 0.01}}).alpha
    0.01
    """
    version = document.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        raise PlanError(f"schema_version = {version!r}; this version reads {SCHEMA_VERSION!r}")
    values: dict[str, dict[str, Any]] = {}
    for section, content in document.items():
        if section == "schema_version":
            continue
        if section not in _SECTIONS:
            raise PlanError(f"[{section}] is not a section of a comparison plan" + did_you_mean(section, _SECTIONS))
        if not isinstance(content, Mapping):
            raise PlanError(f"{section} is {content!r}; a section is expected: write [{section}], its keys below")
        values[section] = _read_section(section, content)
    inputs = _rebase(values.get("inputs", {}), base)
    conventions = dict(values.get("conventions", {}))
    policies = Policies.from_preset(conventions.pop("preset", "default"), **conventions)
    rest = {**values.get("comparison", {}), **values.get("statistics", {})}
    columns = values.get("columns", {})
    stated = (*inputs, *rest, *columns, *(["conventions"] if "conventions" in values else []))
    return Plan(
        **inputs,
        columns=Columns(**columns),
        policies=policies,
        experiment=_rebase_experiment(values.get("experiment", {}), base),
        interleaving=_rebase_interleaving(values.get("interleaving", {}), base),
        stated=stated,
        **rest,
    )


def _rebase_experiment(section: Mapping[str, Any], base: Path | None) -> dict[str, Any]:
    placed = dict(section)
    if base is not None and "rows" in placed:
        placed["rows"] = tuple((arm, str(base / path)) for arm, path in placed["rows"])
    if base is not None and "assignments" in placed:
        placed["assignments"] = str(base / placed["assignments"])
    return placed


def _rebase_interleaving(section: Mapping[str, Any], base: Path | None) -> dict[str, Any]:
    placed = dict(section)
    if base is not None and "logs" in placed:
        placed["logs"] = tuple(str(base / path) for path in placed["logs"])
    return placed


def _read_section(section: str, content: Mapping[str, Any]) -> dict[str, Any]:
    return _read_keys(section, content, _SECTIONS[section])


def _read_keys(section: str, content: Mapping[str, Any], known: Mapping[str, _Reader]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for key, value in content.items():
        if key not in known:
            raise PlanError(f"[{section}] {key} is unknown" + did_you_mean(key, known))
        try:
            read[key] = known[key](value)
        except PlanError as error:
            raise PlanError(f"[{section}] {key} {error}") from error
    return read


def _rebase(inputs: Mapping[str, Any], base: Path | None) -> dict[str, Any]:
    def place(path: str) -> str:
        return str(base / path) if base is not None else path

    placed = dict(inputs)
    for key in ("qrels", "queries", "items", "history"):
        if key in placed:
            placed[key] = place(placed[key])
    if "runs" in placed:
        placed["runs"] = tuple((name, place(path)) for name, path in placed["runs"])
    if "scores" in placed:
        placed["scores"] = tuple(place(path) for path in placed["scores"])
    return placed
