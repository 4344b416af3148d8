"""The array library under tensors: numpy, cupy, and a stand-in for cupy that needs no GPU."""
