"""How the two libraries are asked and compared."""
