"""The words for steps: sentences, names, arithmetic.  Findings bring their own words."""
