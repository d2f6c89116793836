"""The README: the table of measures is made from their declarations, and every option of compare is named."""

from __future__ import annotations

import argparse

from rankstats.cli import compare
from rankstats.cli.main import COMMANDS
from tests.readme import README, measures_table, with_table


def test_the_table_of_measures_is_up_to_date() -> None:
    text = README.read_text(encoding="utf-8")
    assert measures_table() in text, "run: python -m tests.readme"
    assert with_table(text) == text


def test_every_command_and_every_option_of_compare_is_named() -> None:
    text = README.read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"`rankstats {command}" in text, command
    parser = argparse.ArgumentParser()
    compare.add_arguments(parser)
    options = [option for action in parser._actions for option in action.option_strings if option.startswith("--")]
    missing = [option for option in options if f"{option}" not in text and option != "--help"]
    assert missing == []
