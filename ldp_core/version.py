"""The version that exports are stamped with."""

__version__ = "0.2.0"
