"""Devices that draw one person's report, and the kit that takes them out of the app."""

from ldp_core.deploy.kit.opening import Kit as Kit
from ldp_core.deploy.kit.opening import open_kit as open_kit
