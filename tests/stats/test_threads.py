"""The statistics on request give the same numbers with one thread and with two."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import hashlib
from dataclasses import fields
import numpy as np
from rankstats.stats import (
    bayesian_sign,
    bayesian_signed_rank,
    best_systems,
    bootstrap_max_t,
    effect_intervals,
    equivalence_test,
    flip_max_t,
    paired_differences,
    paired_risk,
    power_analysis,
    sign_flip_test,
    simulated_power,
    system_risk,
)
from rankstats.stats.complete_values import pairwise_differences

rng = np.random.default_rng(1)
baseline, noise, weights = rng.random((1500, 1)), rng.normal(0.02, 0.3, (1500, 12)), rng.exponential(size=1500)
plain = paired_differences(baseline, baseline + noise)
weighted = paired_differences(baseline, baseline + noise, weights)
results = [
    bayesian_sign(plain, 0.01, draws=500),
    bayesian_signed_rank(plain, 0.01, draws=500),
    equivalence_test(weighted, 0.05, resamples=500),
    equivalence_test(weighted, 0.05, relative_to=baseline, resamples=500),
    effect_intervals(weighted),
    paired_risk(weighted),
    power_analysis(weighted, 0.05),
    simulated_power(plain.select([0, 1]), 0.05, repetitions=100, resamples=99),
    system_risk(rng.random((1500, 12))),
]
# many small products
few = rng.random((50, 30))
pairs = pairwise_differences(few)
results += [
    sign_flip_test(pairs, resamples=2000, family_size=435),
    flip_max_t(pairs, resamples=2000),
    bootstrap_max_t(pairs, resamples=2000),
    best_systems(few, resamples=2000),
]
digest = hashlib.sha256()
for result in results:
    for field in fields(result):
        digest.update(np.asarray(getattr(result, field.name)).tobytes())
print(digest.hexdigest())
"""


def test_one_thread_and_two() -> None:
    digests = set()
    for threads in ("1", "2"):
        limits = {f"{name}_NUM_THREADS": threads for name in ("OPENBLAS", "OMP", "MKL", "VECLIB")}
        program = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=os.environ | limits, capture_output=True, text=True, check=True
        )
        digests.add(program.stdout)
    assert len(digests) == 1
