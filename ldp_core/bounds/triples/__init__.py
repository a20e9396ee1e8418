"""Proven bounds on the Fourier weights of sets of records, from triples of types, by semidefinite
programming."""
