"""The tests: of the engine, of the app, of both against PyTorch, of the browser's modules, and of the repository."""
