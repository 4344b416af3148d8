"""The web app: pages, revisions, workers and memory."""
