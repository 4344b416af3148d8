"""Updates that do not use their gradients as they should, or whose result is lost: clipped too late, undone."""
