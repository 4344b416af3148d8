"""Functions along dimensions: sums, extremes, statistics, scans, sorting, searching."""
