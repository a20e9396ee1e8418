"""Mechanisms that send vectors or answers with noise, and what the noise guarantees."""
