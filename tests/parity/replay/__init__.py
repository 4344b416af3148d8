"""Replays of programs whose results PyTorch confirms."""
