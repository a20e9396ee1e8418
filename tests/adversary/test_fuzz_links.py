"""Links: what is packed in them changed, or the packing itself."""

import base64
import string
import zlib

import designs
import hostile
from fuzzing import fuzz, tried

from ldp_core.designs import from_link, to_link
from ldp_core.limits import MOST_LINK_CHARACTERS

LETTERS = string.ascii_letters + string.digits + "-_"


def packed(content: bytes, level: int = 9) -> str:
    return base64.urlsafe_b64encode(zlib.compress(content, level)).decode().rstrip("=")


@fuzz(1_500)
def test_links(rng):
    document = designs.document(rng)
    content = hostile.written(rng, hostile.changed(rng, document, rng.choice([0, 0, 0, 1, 2])))
    link = packed(content.encode("utf-8", "surrogatepass"), rng.choice([1, 9]))
    if rng.random() < 0.4:
        link = _damaged(rng, link)
    configuration = tried(from_link, link)
    if configuration is None:
        return False
    assert len(link) <= MOST_LINK_CHARACTERS
    again = tried(to_link, configuration)  # a design that barely fitted may be written longer: keys that were left out
    if again is not None:
        assert set(again) <= set(LETTERS)
        assert from_link(again) == configuration
    return True


def _damaged(rng, link):
    place, how = rng.randrange(len(link)), rng.randrange(7)
    if how == 0:
        return link[:place]
    if how == 1:
        return link[:place] + rng.choice([*"+/=%\0é ", hostile.LONE, "\n", "٣"]) + link[place:]
    if how == 2:
        return link[:place] + rng.choice(LETTERS) + link[place + 1 :]
    if how == 3:
        return link + link
    if how == 4:
        return packed(b"[" * 4_900_000) if rng.random() < 0.02 else packed(b"[" * 20_000)
    if how == 5:
        return packed(zlib.compress(link.encode()))
    return hostile.text(rng) * rng.choice([1, 2, 3000])
