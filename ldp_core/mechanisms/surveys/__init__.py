"""Mechanisms for surveys: people answer about few attributes, and nothing is held for every type."""
