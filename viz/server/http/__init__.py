"""Requests and responses: who may send them, and how files and answers are sent; not what they are about."""
