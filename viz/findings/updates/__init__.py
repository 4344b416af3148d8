"""Gradients that an update does not use as it should: not zeroed, cleared, clipped too late, of another loss."""
