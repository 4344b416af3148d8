"""The sample rows of every op (tests/samples), in both libraries and against the stored answers."""
