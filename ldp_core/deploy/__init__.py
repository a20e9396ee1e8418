"""A design taken into the world: kits for people's devices, the collector of their reports, and the command line.

A product of its own on top of the core, which never imports it.
"""

from typing import TYPE_CHECKING

from ldp_core import parts

__all__ = ["collector", "commands", "kit"]

if TYPE_CHECKING:
    from ldp_core.deploy import collector, commands, kit
else:
    __getattr__ = parts.of(__name__, __all__)


def __dir__() -> list[str]:
    return __all__
