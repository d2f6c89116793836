"""Writes the table of measures into the README from their declarations: ``python -m tests.readme``."""

from __future__ import annotations

from pathlib import Path

from rankstats.measures import DECLARATIONS, WRAPPERS

README = Path(__file__).resolve().parent.parent / "README.md"
START, END = "<!-- measures: start -->", "<!-- measures: end -->"


def measures_table() -> str:
    """Return a Markdown table with a row a measure, in the order in which they are declared."""
    rows = [(declaration.usage, declaration.summary) for declaration in DECLARATIONS]
    rows += [(wrapper.usage, wrapper.summary) for wrapper in WRAPPERS]
    lines = ["| measure | what it says |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{_cell(usage)}` | {_cell(summary)} |" for usage, summary in rows)])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def with_table(text: str) -> str:
    """Return the README with the table between its marks made anew."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{measures_table()}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
