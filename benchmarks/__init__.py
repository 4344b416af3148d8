"""One file per claim: `python -m benchmarks.recording` runs one and prints what docs/benchmarks.md holds."""
