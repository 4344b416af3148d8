"""The browser's requests: two callbacks that ask for data, and three plain requests."""
