"""What the browser asks: two questions with an answer each, and three plain requests beside them."""
