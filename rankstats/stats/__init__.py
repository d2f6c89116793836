"""Statistics of paired per-query values: arrays in, frozen results out."""

from rankstats.stats.anova_tests import AnovaComparisons, TwoWayAnovaResult, dunnett, tukey_hsd, two_way_anova
from rankstats.stats.arm_comparison import ArmComparison, compare_arms, repeated_interval
from rankstats.stats.arm_margins import ArmMarginResult, arm_equivalence, arm_noninferiority
from rankstats.stats.arm_pairs import ArmPair, mean_pair, ratio_pair
from rankstats.stats.arm_scales import EFFECT_SCALES
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
from rankstats.stats.cluster_quantiles import ArmQuantiles, arm_quantiles, bootstrap_quantiles, quantile_pair
from rankstats.stats.clusters import cluster_sums, clustered_relative_difference, on_clusters, strata_of_clusters
from rankstats.stats.complete_values import all_pairs, pairwise_differences
from rankstats.stats.concentration import Concentration, concentration
from rankstats.stats.confidence_sequences import (
    ConfidenceSequence,
    RunningSequence,
    confidence_sequence,
    mixture_sprt,
    running_sequence,
)
from rankstats.stats.correlation import (
    GroupedRankCorrelation,
    RankCorrelation,
    grouped_rank_correlation,
    kendall_tau,
    rank_correlation,
    spearman_rho,
)
from rankstats.stats.covariate_adjustment import AdjustedArms, cuped, regression_adjustment
from rankstats.stats.daily_moments import DailyMoments, daily_moments
from rankstats.stats.differences import Differences, paired_differences, stack_columns
from rankstats.stats.effect_agreement import Correlation, EffectAgreement, effect_agreement
from rankstats.stats.effect_intervals import EffectIntervalsResult, effect_intervals
from rankstats.stats.effects import (
    EffectSizes,
    RelativeDifference,
    effect_sizes,
    kish_n_effective,
    relative_difference,
)
from rankstats.stats.equivalence import EquivalenceResult, NoninferiorityResult, equivalence_test, noninferiority_test
from rankstats.stats.exact_moments import ExactCubes, ExactMoments, exact_cubes, exact_moments, moments_of, no_moments
from rankstats.stats.experiment_power import ExperimentPlan, plan_means, plan_proportions, unit_variance
from rankstats.stats.flip_max_t import FlipMaxTResult, flip_max_t
from rankstats.stats.flip_min_p import FlipMinPResult, flip_min_p
from rankstats.stats.group_sequential import (
    SPENDING,
    SequentialBounds,
    SequentialResult,
    sequential_bounds,
    sequential_inflation,
    sequential_test,
    spent_level,
)
from rankstats.stats.heterogeneity import HeterogeneityResult, cochran_q, heterogeneity_test
from rankstats.stats.interleaving import (
    InterleavingResult,
    impression_outcomes,
    interleaving_sequence,
    interleaving_test,
)
from rankstats.stats.interleaving_credit import (
    Credits,
    balanced_credits,
    credits_of_wins,
    multileaving_credits,
    pair_of_rankers,
    probabilistic_credits,
    team_draft_credits,
)
from rankstats.stats.interleaving_logs import impression_labels, shared_prefix, team_signs
from rankstats.stats.interleaving_ranking import RankerScores, ranker_scores
from rankstats.stats.interleaving_segments import SegmentPreferences, segment_preferences
from rankstats.stats.item_lists import (
    ListCorrelation,
    RankedLists,
    list_correlation,
    lists_of_items,
    ranked_lists,
)
from rankstats.stats.kappa import CohenKappa, GradeConfusion, cohen_kappa, fleiss_kappa, grade_confusion
from rankstats.stats.krippendorff import KrippendorffAlpha, krippendorff_alpha
from rankstats.stats.list_exchange import ListExchangeResult, list_exchange_test
from rankstats.stats.many_systems import DiscriminativePower, RankIntervals, discriminative_power, rank_intervals
from rankstats.stats.max_t import MaxTResult, bootstrap_max_t
from rankstats.stats.multiplicity import CORRECTIONS, adjust, not_tighter
from rankstats.stats.overlaps import TIE_VERSIONS, RankBiasedOverlap, overlap_at, rank_biased_overlap
from rankstats.stats.pair_bootstrap import PairBootstrap
from rankstats.stats.poisson_bootstrap import (
    ArmBootstrapResult,
    ExactPoissonSums,
    PoissonSums,
    exact_poisson_sums,
    merge_poisson_sums,
    poisson_bootstrap,
    poisson_sums,
    rounded_poisson_sums,
)
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
from rankstats.stats.proportions import ProportionComparison, compare_proportions, proportion_interval
from rankstats.stats.rank_tests import FriedmanResult, RankPairsResult, conover_test, friedman_test, nemenyi_test
from rankstats.stats.ratios import Ratios, mean_ratios, relative_ratios
from rankstats.stats.risk import RiskResult, SystemRiskResult, geometric_mean, paired_risk, system_risk
from rankstats.stats.sample_ratio import SampleRatioResult, sample_ratio_test
from rankstats.stats.segment_effects import SegmentEffects, effects_weighted, segment_effects
from rankstats.stats.sign_flips import SignFlipResult, sign_flip_test
from rankstats.stats.signed_ranks import SignedRankResult, signed_rank_test
from rankstats.stats.system_orders import (
    OrderAgreement,
    SwapProbabilities,
    order_agreement,
    order_agreements,
    swap_probabilities,
)
from rankstats.stats.top_correlation import (
    ApCorrelation,
    GroupedApCorrelation,
    ap_correlation,
    grouped_ap_correlation,
    weighted_tau,
)
from rankstats.stats.tukey import RandomisedTukeyResult, randomised_tukey
from rankstats.stats.unit_moments import (
    UnitMoments,
    aggregated_moments,
    count_moments,
    covariate_with_missing,
    merge_moments,
    ratio_aggregates,
    stack_moments,
    unit_moments,
)
from rankstats.stats.unit_permutations import UnitPermutationResult, permutation_p, unit_permutation_test
from rankstats.stats.unit_sketch import SharedUnits, UnitSketch, shared_units, unit_sketch
from rankstats.stats.winsorising import WinsorisingCap, winsorising_cap

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
    "ListExchangeResult",
    "list_exchange_test",
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
    "PairBootstrap",
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
    "ApCorrelation",
    "ap_correlation",
    "GroupedApCorrelation",
    "grouped_ap_correlation",
    "weighted_tau",
    "RankedLists",
    "ranked_lists",
    "lists_of_items",
    "ListCorrelation",
    "list_correlation",
    "TIE_VERSIONS",
    "RankBiasedOverlap",
    "rank_biased_overlap",
    "overlap_at",
    "OrderAgreement",
    "order_agreement",
    "order_agreements",
    "SwapProbabilities",
    "swap_probabilities",
    "GradeConfusion",
    "grade_confusion",
    "CohenKappa",
    "cohen_kappa",
    "fleiss_kappa",
    "KrippendorffAlpha",
    "krippendorff_alpha",
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
    "ArmComparison",
    "compare_arms",
    "repeated_interval",
    "ArmMarginResult",
    "arm_equivalence",
    "arm_noninferiority",
    "ArmPair",
    "mean_pair",
    "ratio_pair",
    "EFFECT_SCALES",
    "ArmQuantiles",
    "arm_quantiles",
    "bootstrap_quantiles",
    "quantile_pair",
    "ConfidenceSequence",
    "RunningSequence",
    "confidence_sequence",
    "mixture_sprt",
    "running_sequence",
    "AdjustedArms",
    "cuped",
    "regression_adjustment",
    "DailyMoments",
    "daily_moments",
    "ExperimentPlan",
    "plan_means",
    "plan_proportions",
    "unit_variance",
    "SPENDING",
    "SequentialBounds",
    "SequentialResult",
    "sequential_bounds",
    "sequential_inflation",
    "sequential_test",
    "spent_level",
    "InterleavingResult",
    "impression_outcomes",
    "interleaving_sequence",
    "interleaving_test",
    "RankerScores",
    "ranker_scores",
    "SegmentPreferences",
    "segment_preferences",
    "Credits",
    "balanced_credits",
    "credits_of_wins",
    "impression_labels",
    "multileaving_credits",
    "pair_of_rankers",
    "probabilistic_credits",
    "shared_prefix",
    "team_draft_credits",
    "team_signs",
    "ArmBootstrapResult",
    "PoissonSums",
    "merge_poisson_sums",
    "poisson_bootstrap",
    "poisson_sums",
    "ProportionComparison",
    "compare_proportions",
    "proportion_interval",
    "SampleRatioResult",
    "sample_ratio_test",
    "SegmentEffects",
    "effects_weighted",
    "segment_effects",
    "Correlation",
    "EffectAgreement",
    "effect_agreement",
    "ExactMoments",
    "ExactCubes",
    "exact_cubes",
    "exact_moments",
    "moments_of",
    "no_moments",
    "ExactPoissonSums",
    "exact_poisson_sums",
    "rounded_poisson_sums",
    "SharedUnits",
    "UnitSketch",
    "shared_units",
    "unit_sketch",
    "UnitMoments",
    "aggregated_moments",
    "count_moments",
    "covariate_with_missing",
    "merge_moments",
    "ratio_aggregates",
    "stack_moments",
    "unit_moments",
    "UnitPermutationResult",
    "permutation_p",
    "unit_permutation_test",
    "WinsorisingCap",
    "winsorising_cap",
]
