"""Products, norms, factors, equations and spectra of matrices."""
