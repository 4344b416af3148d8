"""The formula of one call of a rule: symbols, their simplification, and how they are printed."""
