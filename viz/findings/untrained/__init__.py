"""Parameters that never learn: no gradient reaches them, only zeros do, or no optimiser holds them."""
