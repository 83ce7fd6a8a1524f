"""Measures of Opora: each module measures one thing, and `python -m benchmarks` runs them all."""
