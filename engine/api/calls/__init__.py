"""How functions are offered: torch's signatures in front of them, `out=`, named results, what is left out."""
