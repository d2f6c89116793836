"""Statistics of paired per-query values: arrays in, frozen results out."""

from rankstats.stats.bootstrap import BootstrapResult, paired_bootstrap
from rankstats.stats.classical import (
    MeanIntervalResult,
    PairedTResult,
    SignTestResult,
    mean_interval,
    paired_t,
    sign_test,
)
from rankstats.stats.correlation import (
    GroupedRankCorrelation,
    RankCorrelation,
    grouped_rank_correlation,
    kendall_tau,
    rank_correlation,
    spearman_rho,
)
from rankstats.stats.differences import Differences, paired_differences, stack_columns
from rankstats.stats.effects import (
    EffectSizes,
    RelativeDifference,
    effect_sizes,
    kish_n_effective,
    relative_difference,
)
from rankstats.stats.heterogeneity import HeterogeneityResult, cochran_q, heterogeneity_test
from rankstats.stats.max_t import MaxTResult, bootstrap_max_t
from rankstats.stats.multiplicity import CORRECTIONS, adjust, not_tighter
from rankstats.stats.power import (
    PowerResult,
    detectable_shift,
    fractional_queries_needed,
    power_analysis,
    queries_needed,
    sign_test_power,
    t_power,
)
from rankstats.stats.sign_flips import SignFlipResult, sign_flip_test
from rankstats.stats.signed_ranks import SignedRankResult, signed_rank_test

__all__ = [
    "Differences",
    "paired_differences",
    "stack_columns",
    "SignFlipResult",
    "sign_flip_test",
    "BootstrapResult",
    "paired_bootstrap",
    "MaxTResult",
    "bootstrap_max_t",
    "PairedTResult",
    "paired_t",
    "SignTestResult",
    "sign_test",
    "SignedRankResult",
    "signed_rank_test",
    "MeanIntervalResult",
    "mean_interval",
    "CORRECTIONS",
    "adjust",
    "not_tighter",
    "HeterogeneityResult",
    "heterogeneity_test",
    "cochran_q",
    "RankCorrelation",
    "rank_correlation",
    "kendall_tau",
    "spearman_rho",
    "GroupedRankCorrelation",
    "grouped_rank_correlation",
    "EffectSizes",
    "effect_sizes",
    "RelativeDifference",
    "relative_difference",
    "detectable_shift",
    "queries_needed",
    "t_power",
    "fractional_queries_needed",
    "sign_test_power",
    "PowerResult",
    "power_analysis",
    "kish_n_effective",
]
