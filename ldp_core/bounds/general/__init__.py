"""Lower bounds for any workload: the moment relaxation over all pairs of types, and certificates
derived from it."""
