"""Formulas of calls: symbols, simplification and text."""
