"""Requests and answers: who may ask, and how files and answers are sent.  What they are about is not known here."""
