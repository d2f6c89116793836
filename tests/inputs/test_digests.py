from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankstats.errors import InputError
from rankstats.inputs.row_tables import RowTables

ROWS = b"arm,paid\nA,1\nB,0\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders")
def test_a_pipe_is_refused_before_it_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.csv")
    with RowTables() as tables, pytest.raises(InputError, match="is a pipe or a device, which cannot be read twice"):
        tables.open(tmp_path / "rows.csv")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no folder of open files")
def test_a_pipe_of_the_shell_is_not_called_empty() -> None:
    reader, writer = os.pipe()
    os.write(writer, ROWS)
    os.close(writer)
    with RowTables() as tables, pytest.raises(InputError, match="is a pipe or a device"):
        tables.open(Path(f"/dev/fd/{reader}"))
    os.close(reader)
