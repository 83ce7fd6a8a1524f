"""What is known of images."""

from __future__ import annotations

import pytest

from opora.text.image_info import merge_image_info, prune_markdown_images, read_image_info, write_image_info


@pytest.mark.parametrize("raw", ["", "  ", "{", "7", "null", '"x"', "[1, null]"])
def test_what_is_no_list_of_images_holds_none(raw: str) -> None:
    assert read_image_info(raw) == ()


def test_one_or_many_under_either_name() -> None:
    assert read_image_info('{"url": "/a", "caption": "c", "ocr": "t"}') == read_image_info(
        '[{"original_url": "/a", "caption": "c", "ocr_text": "t"}]'
    )


def test_each_address_comes_once_and_the_first_text_stays() -> None:
    first, second = '[{"url": "/a", "caption": "one"}]', '[{"url": "/a", "caption": "two"}, {"url": "/b"}]'
    merged = read_image_info(merge_image_info(first, second))
    assert [(image.url, image.caption) for image in merged] == [("/a", "one"), ("/b", "")]
    assert merge_image_info("", second) == second
    assert read_image_info(write_image_info(merged)) == merged
    assert write_image_info(()) == ""


def test_images_of_others_are_pruned_by_their_address() -> None:
    text = 'до ![a](/a.png) и ![b](</b.png> "t") после'
    assert prune_markdown_images(text, {"/b.png"}) == 'до  и ![b](</b.png> "t") после'
