"""Mechanisms over an ordered domain: nodes of a tree, or Haar coefficients, each person on one random level."""
