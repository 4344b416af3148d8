"""The formula of one call of a rule: from its symbols to its text.
No tensors, only their shapes; the rules are in `ops`.
"""
