"""What a trace says: facts in tables, the program's text, values, labels, formulas.  No picture and no time in here."""
