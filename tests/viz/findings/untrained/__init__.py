"""Parameters that never learn, and programs that mean it so."""
