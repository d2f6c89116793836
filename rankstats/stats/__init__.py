"""Statistics of paired per-query values: arrays in, frozen results out."""

from rankstats.stats.anova_tests import AnovaComparisons, TwoWayAnovaResult, dunnett, tukey_hsd, two_way_anova
from rankstats.stats.bayes import BayesianShareResult, BayesianTResult, bayesian_sign, bayesian_signed_rank, bayesian_t
from rankstats.stats.best_systems import BestSystems, best_systems
from rankstats.stats.bootstrap import BootstrapResult, paired_bootstrap
from rankstats.stats.bootstrap_intervals import INTERVAL_METHODS, BootstrapIntervals, bootstrap_intervals
from rankstats.stats.classical import (
    MeanIntervalResult,
    PairedTResult,
    SignTestResult,
    interval_of_means,
    mean_interval,
    paired_t,
    sign_test,
)
from rankstats.stats.clusters import cluster_sums, clustered_relative_difference, on_clusters, strata_of_clusters
from rankstats.stats.complete_values import all_pairs, pairwise_differences
from rankstats.stats.concentration import Concentration, concentration
from rankstats.stats.correlation import (
    GroupedRankCorrelation,
    RankCorrelation,
    grouped_rank_correlation,
    kendall_tau,
    rank_correlation,
    spearman_rho,
)
from rankstats.stats.differences import Differences, paired_differences, stack_columns
from rankstats.stats.effect_intervals import EffectIntervalsResult, effect_intervals
from rankstats.stats.effects import (
    EffectSizes,
    RelativeDifference,
    effect_sizes,
    kish_n_effective,
    relative_difference,
)
from rankstats.stats.equivalence import EquivalenceResult, NoninferiorityResult, equivalence_test, noninferiority_test
from rankstats.stats.flip_max_t import FlipMaxTResult, flip_max_t
from rankstats.stats.flip_min_p import FlipMinPResult, flip_min_p
from rankstats.stats.heterogeneity import HeterogeneityResult, cochran_q, heterogeneity_test
from rankstats.stats.many_systems import DiscriminativePower, RankIntervals, discriminative_power, rank_intervals
from rankstats.stats.max_t import MaxTResult, bootstrap_max_t
from rankstats.stats.multiplicity import CORRECTIONS, adjust, not_tighter
from rankstats.stats.post_stratification import PostStratified, post_stratified
from rankstats.stats.power import (
    PowerResult,
    detectable_shift,
    fractional_queries_needed,
    power_analysis,
    queries_needed,
    sign_test_power,
    t_power,
)
from rankstats.stats.power_simulation import (
    SimulatedPowerResult,
    SimulatedQueriesResult,
    simulated_power,
    simulated_queries_needed,
)
from rankstats.stats.rank_tests import FriedmanResult, RankPairsResult, conover_test, friedman_test, nemenyi_test
from rankstats.stats.ratios import Ratios, mean_ratios, relative_ratios
from rankstats.stats.risk import RiskResult, SystemRiskResult, geometric_mean, paired_risk, system_risk
from rankstats.stats.sign_flips import SignFlipResult, sign_flip_test
from rankstats.stats.signed_ranks import SignedRankResult, signed_rank_test
from rankstats.stats.tukey import RandomisedTukeyResult, randomised_tukey

__all__ = [
    "Concentration",
    "concentration",
    "PostStratified",
    "post_stratified",
    "Differences",
    "paired_differences",
    "stack_columns",
    "SignFlipResult",
    "sign_flip_test",
    "BootstrapResult",
    "paired_bootstrap",
    "INTERVAL_METHODS",
    "BootstrapIntervals",
    "bootstrap_intervals",
    "Ratios",
    "mean_ratios",
    "relative_ratios",
    "cluster_sums",
    "clustered_relative_difference",
    "on_clusters",
    "strata_of_clusters",
    "MaxTResult",
    "bootstrap_max_t",
    "all_pairs",
    "pairwise_differences",
    "FlipMaxTResult",
    "flip_max_t",
    "FlipMinPResult",
    "flip_min_p",
    "RandomisedTukeyResult",
    "randomised_tukey",
    "TwoWayAnovaResult",
    "two_way_anova",
    "AnovaComparisons",
    "tukey_hsd",
    "dunnett",
    "FriedmanResult",
    "friedman_test",
    "RankPairsResult",
    "nemenyi_test",
    "conover_test",
    "RankIntervals",
    "rank_intervals",
    "BestSystems",
    "best_systems",
    "DiscriminativePower",
    "discriminative_power",
    "PairedTResult",
    "paired_t",
    "SignTestResult",
    "sign_test",
    "SignedRankResult",
    "signed_rank_test",
    "MeanIntervalResult",
    "mean_interval",
    "interval_of_means",
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
    "SimulatedPowerResult",
    "simulated_power",
    "SimulatedQueriesResult",
    "simulated_queries_needed",
    "EquivalenceResult",
    "equivalence_test",
    "NoninferiorityResult",
    "noninferiority_test",
    "BayesianTResult",
    "bayesian_t",
    "BayesianShareResult",
    "bayesian_signed_rank",
    "bayesian_sign",
    "RiskResult",
    "paired_risk",
    "SystemRiskResult",
    "system_risk",
    "geometric_mean",
    "EffectIntervalsResult",
    "effect_intervals",
    "kish_n_effective",
]
