"""The convex design of survey mechanisms: which patterns, over which attributes, with which probabilities."""
