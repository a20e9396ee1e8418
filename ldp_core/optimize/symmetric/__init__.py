"""Column generation over whole orbits of rows, for workloads whose types a group permutes."""
