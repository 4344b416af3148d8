"""The engine by itself: these tests run where PyTorch is not installed."""
