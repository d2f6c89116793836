"""rankstats.comparison."""
