"""How ops are written as formulas: with symbols, signs and indices. No op is declared here."""
