"""Long runs: their iterations, and the window of one that is shown."""
