"""The same elements in another geometry, in parts, put together; and where they lie."""
