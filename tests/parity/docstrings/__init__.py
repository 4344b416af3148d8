"""What public docstrings say: examples, shapes and errors, here and in PyTorch."""
