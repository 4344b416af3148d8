"""What people read about steps: sentences, names, arithmetic.  Findings bring their own words."""
