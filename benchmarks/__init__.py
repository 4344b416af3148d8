"""One file per claim: `python -m benchmarks.recording` runs one and prints what benchmarks/README.md holds."""
