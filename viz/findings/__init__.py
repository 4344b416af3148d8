"""Problems in a program: explained errors, and faults without an error, each with its place, proof and fix."""
