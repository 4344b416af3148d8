"""One document per revision, with all that the browser plays (docs/scene-format.md), and what is asked later."""
