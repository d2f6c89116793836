"""Settings of hypothesis: new examples on every run by hand, the same ones in CI, no time limit on a busy machine."""

from __future__ import annotations

import os

if "PYTEST_XDIST_WORKER" in os.environ:
    # the workers have the cores already; threads of linear algebra would wait for each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import settings

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
