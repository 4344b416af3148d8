"""The documents that the browser receives, as types: a scene, the details of an element, edits. No code."""
