"""Reading a trace: tables of facts, the program's text, values, labels, formulas.  No picture, no time."""
