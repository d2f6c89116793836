from __future__ import annotations

import threading
import time

import pyarrow as pa
import pytest

from rankstats.tables.threads import in_threads


@pytest.fixture(params=[1, 4])
def _cpus(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pa, "cpu_count", lambda: request.param)


@pytest.mark.usefixtures("_cpus")
def test_results_come_in_the_order_of_the_pieces() -> None:
    def slow_first(piece: int) -> int:
        time.sleep(0.02 if piece == 0 else 0)
        return piece * piece

    assert list(in_threads(slow_first, range(50))) == [n * n for n in range(50)]
    assert list(in_threads(slow_first, [])) == []


@pytest.mark.usefixtures("_cpus")
def test_an_error_reaches_the_caller_and_ends_the_work() -> None:
    before = threading.active_count()
    done: list[int] = []

    def fail_at_three(piece: int) -> int:
        done.append(piece)
        if piece == 3:
            raise ValueError("piece 3")
        return piece

    with pytest.raises(ValueError, match="piece 3"):
        list(in_threads(fail_at_three, range(1000)))
    assert len(done) < 100
    assert threading.active_count() == before


@pytest.mark.usefixtures("_cpus")
def test_who_stops_early_leaves_no_thread_and_little_done() -> None:
    before = threading.active_count()
    done: list[int] = []
    results = in_threads(done.append, range(1000))
    next(results)
    results.close()  # type: ignore[attr-defined]  # it is a generator
    assert len(done) < 100
    assert threading.active_count() == before
