"""Engines that make hits of rows that are not in memory: DuckDB, Polars, Spark and Ibis, by one expression.

`steps` holds the heavy steps over narwhals, `adapters` what differs between engines, `hit_making` runs the steps and
collects hits and totals, `duckdb_session` is the embedded engine with its memory limit and temporary folder.
"""
