"""Findings, explained errors and their fixes."""
