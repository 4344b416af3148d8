"""How ops are written: on symbols, with a sign, place by place. The printer is handed in; no op is declared here."""
