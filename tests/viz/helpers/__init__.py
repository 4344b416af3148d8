"""Programs, scenes and recordings that the tests of viz share, and how they are drawn, written and compared."""
