"""What three types at a time say of sets of records: proven bounds on energies by semidefinite programming."""
