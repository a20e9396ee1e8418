"""Lower bounds for surveys: domains of any size, in numbers by set of attributes."""
