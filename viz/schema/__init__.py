"""What the browser is given, as types: a scene, the details of an element, edits. Types alone, no code."""
