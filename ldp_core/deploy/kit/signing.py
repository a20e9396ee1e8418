"""Signatures of devices: Ed25519 (RFC 8032), by the package cryptography.

A signature says that the owner of the private key made the device. Clients that have the public key
refuse every other device. Ids stop accidents only: anybody can compute those of an altered device.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ldp_core.deploy.kit.client import signed_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MAKE_A_KEY = "openssl genpkey -algorithm ed25519 -out private.pem"


def sign(description: Mapping[str, object], private_key: bytes) -> dict[str, object]:
    """The description of a device with its signature. ``private_key`` holds a PEM file; ValueError as for
    `public_key`."""
    return {**description, "signature": _read(private_key).sign(signed_text(description)).hex()}


def public_key(private_key: bytes) -> str:
    """The public key that clients check signatures with, 64 hexadecimal digits. ValueError, one sentence,
    where the PEM file holds no such key."""
    return _read(private_key).public_key().public_bytes_raw().hex()


def _read(private_key: bytes) -> Ed25519PrivateKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(private_key, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):  # damaged, locked with a password, unknown
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError(
            f"The file holds no Ed25519 private key without a password in PEM; make one with: {MAKE_A_KEY}"
        )
    return key
