"""Scripts that write the generated pages and pictures, and what they read; no text that people read."""
