"""The convex design of survey mechanisms: the choice of patterns, attributes and probabilities."""
