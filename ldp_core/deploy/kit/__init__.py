"""What leaves the app: devices that draw one person's report, and the kit that carries them into the world."""

from ldp_core.deploy.kit.opening import Kit as Kit
from ldp_core.deploy.kit.opening import open_kit as open_kit
