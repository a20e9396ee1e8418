"""Text that comes from data or files, made safe to show."""

import re


def plain(text: str) -> str:
    """Text of a user (labels, names) made safe to place in Markdown."""
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|$~:^&])", r"\\\1", text.replace("\n", " "))
