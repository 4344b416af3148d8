"""One file per claim: `python -m benchmarks.engine_chain` runs one and prints what docs/benchmarks.md holds."""
