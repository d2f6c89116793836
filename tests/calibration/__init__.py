"""How often tests reject and intervals hold the truth, by simulation from real per-query values."""
