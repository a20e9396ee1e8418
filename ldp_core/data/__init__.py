"""Records to counts over types: files, domains, tables of raw rows, and people who are only expected."""

from typing import TYPE_CHECKING

from ldp_core import parts

__all__ = ["domain", "population", "reading", "tables"]

if TYPE_CHECKING:
    from ldp_core.data import domain, population, reading, tables
else:
    __getattr__ = parts.of(__name__, __all__)
