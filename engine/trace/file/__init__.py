"""A trace on disk: written as the program runs, read as it is looked at, checked where others made it."""
