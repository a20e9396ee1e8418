"""Lower bounds for workloads with a large symmetry group: the same relaxation in as many numbers as there are classes of pairs."""
