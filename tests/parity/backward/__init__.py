"""What a backward pass leaves behind, in both libraries."""
