"""Column generation over two-valued rows, without use of symmetry."""
