"""How functions are offered: torch's signatures, `out=`, named results, and the names that are left out."""
