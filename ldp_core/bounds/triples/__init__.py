"""What three types at a time say of sets of records of bits: proven bounds on energies by semidefinite programming."""
