"""What a rule computes, as a formula of one call: symbols, their simplification, and how they are printed."""
