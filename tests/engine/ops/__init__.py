"""The ops: their rules against small steps, and what fast paths rely on."""
