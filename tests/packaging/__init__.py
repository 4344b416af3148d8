"""The wheel and the source distribution, built and installed."""
