"""The formula of one call of a rule: from its symbols to its text."""
