"""Takes in the pictures that come with a question: looked at by their content, brought to a size that models take."""

from __future__ import annotations

import base64
import binascii
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from opora.domain.conversation import Beside
from opora.domain.errors import InvalidInput
from opora.domain.pictures import Image, Picture

MAX_PICTURES = 5
MAX_BYTES = 5 * 1024 * 1024
"""What models are shown; a larger picture is made smaller."""
MAX_GIVEN_BYTES = 10 * 1024 * 1024
MAX_PIXELS = 40_000_000
MAX_SIDE = 2_048
"""The longer side of a picture that had to be made smaller."""
MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
_SEVERAL_IN_ONE = "MPO"
"""A JPEG of a telephone that carries further pictures behind its own; what it shows is the first."""
_KNOWN = "PNG, JPEG, WebP or GIF"
_DATA_URL = re.compile(r"data:image/[a-z0-9.+-]+;base64,", re.IGNORECASE)
_QUALITIES = (85, 70, 50)


def read_pictures(urls: Sequence[str]) -> tuple[Picture, ...]:
    """The pictures of ``data:`` addresses, in their order, each once. Blocking: it decodes them.

    Raises `InvalidInput` naming ``images`` for too many or too large ones, other addresses, and what is no picture.
    """
    if len(urls) > MAX_PICTURES:
        raise InvalidInput.of("images", f"A question has at most {MAX_PICTURES} pictures.")
    pictures = [_picture(_bytes(url), number) for number, url in enumerate(urls, start=1)]
    return tuple({picture.image_id: picture for picture in pictures}.values())


def _bytes(url: str) -> bytes:
    head = _DATA_URL.match(url)
    if head is None:
        raise InvalidInput.of(
            "images",
            "A picture comes as a data: address with its bytes in base64.",
            hint="Such as data:image/png;base64,iVBOR...; pictures elsewhere are not fetched.",
        )
    if len(url) - head.end() > MAX_GIVEN_BYTES * 4 // 3 + 4:
        raise InvalidInput.of("images", f"A picture has at most {MAX_GIVEN_BYTES // 1024**2} MB.")
    try:
        return base64.b64decode(url[head.end() :], validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput.of("images", "The base64 of a picture is broken.", hint="Send it again whole.") from error


def _picture(data: bytes, number: int) -> Picture:
    from PIL import Image as Decoder
    from PIL import UnidentifiedImageError

    try:
        with Decoder.open(io.BytesIO(data), formats=list(MEDIA_TYPES)) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                raise _too_many_pixels(number)
            kind = str(opened.format)
            opened.load()
            if len(data) > MAX_BYTES or kind == _SEVERAL_IN_ONE:
                return _named(MEDIA_TYPES["JPEG"], _rewritten(opened))
    except InvalidInput:
        raise
    except Decoder.DecompressionBombError as error:
        raise _too_many_pixels(number) from error
    except UnidentifiedImageError as error:
        raise InvalidInput.of("images", f"Picture {number} is no {_KNOWN}.", hint="Save it as PNG or JPEG.") from error
    except Exception as error:
        # Decoders raise whatever they like at broken data.
        raise InvalidInput.of("images", f"Picture {number} is damaged.", hint="Save it anew and send it again.") from (
            error
        )
    return _named(MEDIA_TYPES[kind], data)


def _named(media_type: str, data: bytes) -> Picture:
    return Picture(image_id=sha256(data).hexdigest()[:32], media_type=media_type, data=data)


def _too_many_pixels(number: int) -> InvalidInput:
    return InvalidInput.of("images", f"Picture {number} has more than {MAX_PIXELS // 10**6} megapixels.")


def _rewritten(opened: object) -> bytes:
    """A JPEG of at most `MAX_BYTES`, upright, on white where the picture lets its ground through."""
    from PIL import Image as Decoder
    from PIL import ImageOps

    assert isinstance(opened, Decoder.Image)
    # What is written anew has no note of how the camera was held.
    small = ImageOps.exif_transpose(opened)
    small.thumbnail((MAX_SIDE, MAX_SIDE))
    if small.has_transparency_data:
        seen = small.convert("RGBA")
        small = Decoder.new("RGBA", seen.size, "white")
        small.alpha_composite(seen)
    small = small.convert("RGB")
    written = b""
    for quality in _QUALITIES:
        out = io.BytesIO()
        small.save(out, "JPEG", quality=quality)
        written = out.getvalue()
        if len(written) <= MAX_BYTES:
            break
    return written


def with_images(beside: Beside, pictures: Sequence[Picture]) -> Beside:
    """What stands beside a question, with its pictures as the message keeps them."""
    if not pictures:
        return beside
    kept = {one.image_id: one.caption for one in beside.images}
    images = tuple(
        Image(
            image_id=one.image_id,
            media_type=one.media_type,
            size=len(one.data),
            caption=kept.get(one.image_id, ""),
        )
        for one in pictures
    )
    return replace(beside, images=images)
