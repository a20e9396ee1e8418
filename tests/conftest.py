"""For all tests: nothing is decided by how fast the machine is, and the same examples are tried everywhere."""

from hypothesis import HealthCheck, settings

PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}

# The default run is the same on every machine. To look further:  bash tests/run.sh --hypothesis-profile=search
# What it finds is printed with the seed and a line that repeats it.
settings.register_profile("repeatable", derandomize=True, max_examples=50, **PATIENT)
settings.register_profile("search", max_examples=100, **PATIENT)
settings.load_profile("repeatable")
