"""Reads and merges what is known of the images in a chunk: a JSON list of address, caption and recognised text."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

_MARKDOWN_IMAGE = re.compile(r"!\[[^\]\n]*\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageInfo:
    url: str = ""
    caption: str = ""
    ocr_text: str = ""


def read_image_info(raw: str) -> tuple[ImageInfo, ...]:
    """Images of a result; one object or a list. What is not such JSON holds no images."""
    if not raw.strip():
        return ()
    try:
        data = json.loads(raw)
    except ValueError:
        return ()
    items = data if isinstance(data, list) else [data]
    return tuple(_image(item) for item in items if isinstance(item, dict))


def write_image_info(images: Iterable[ImageInfo]) -> str:
    """The JSON that `read_image_info` reads; '' for none."""
    items = [{"url": image.url, "caption": image.caption, "ocr_text": image.ocr_text} for image in images]
    return json.dumps(items, ensure_ascii=False) if items else ""


def merge_image_info(first: str, second: str) -> str:
    """Images of both, each address once, the first one's text kept."""
    if not first or not second or first == second:
        return first or second
    merged: dict[str, ImageInfo] = {}
    for number, image in enumerate((*read_image_info(first), *read_image_info(second))):
        merged.setdefault(image.url or f"#{number}", image)
    return write_image_info(merged.values())


def prune_markdown_images(text: str, keep: Collection[str]) -> str:
    """Text without the Markdown images whose address is not in ``keep``."""
    return _MARKDOWN_IMAGE.sub(lambda match: match[0] if match[1] in keep else "", text)


def _image(item: dict[str, Any]) -> ImageInfo:
    return ImageInfo(
        url=_text(item, "url", "original_url"),
        caption=_text(item, "caption"),
        ocr_text=_text(item, "ocr_text", "ocr"),
    )


def _text(item: dict[str, Any], *names: str) -> str:
    for name in names:
        value = item.get(name)
        if isinstance(value, str) and value:
            return value
    return ""
