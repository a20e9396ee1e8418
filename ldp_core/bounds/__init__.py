"""What no mechanism can beat, on the scale of the objective L."""

from ldp_core.bounds.svd import centred_svd, svd

__all__ = ["centred_svd", "svd"]
