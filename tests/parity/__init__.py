"""What PyTorch gives, says and refuses, against what the engine does: everything that compares the two."""
