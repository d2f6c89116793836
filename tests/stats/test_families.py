"""Families of comparisons against programs that handle several systems."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rankstats.stats import adjust, paired_differences, paired_t, sign_flip_test
from tests.stats.cases import golden

MATRICES = ["m30x4", "m8x4", "m5x3", "m12x4ties"]


@pytest.mark.parametrize("name", MATRICES)
def test_all_pairs_by_t_with_holm_and_bh(name: str) -> None:
    data, expected = golden("data")[name], golden("multisystem")["cases"][name]["python"]["pairwise_paired_t"]
    values, systems = np.array(data["x"]), data["systems"]
    pairs = [(systems.index(pair[2]), systems.index(pair[0])) for pair in expected["pair"]]
    baseline, system = (values[:, [pair[side] for pair in pairs]] for side in (0, 1))
    p = paired_t(paired_differences(baseline, system)).p_value
    assert_allclose(p, expected["p"], rtol=1e-6)
    for method in ("holm", "bh"):
        assert_allclose(adjust(p, method), expected[method], rtol=1e-6)


@pytest.mark.parametrize("name", ["m8x4", "m5x3", "m12x4ties"])
def test_exact_flips_against_the_first_system(name: str) -> None:
    values = np.array(golden("data")[name]["x"])
    expected = golden("multisystem")["cases"][name]["python"]["westfall_young_joint_sign_flips_vs_baseline"]["t"]
    result = sign_flip_test(paired_differences(values[:, 0], values[:, 1:]), family_size=values.shape[1] - 1)
    assert result.exact.all()
    assert result.p_value.tolist() == expected["raw_p"]
    assert result.p_adjusted.tolist() == adjust(result.p_value, "bonferroni").tolist()
