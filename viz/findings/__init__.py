"""What is wrong in a program: errors explained, and faults without an error, each with place, proof and remedy."""
