"""Graphs of entities: which chunks speak of what a question names, and of what that is related to."""
