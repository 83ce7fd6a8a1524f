"""One form for texts that differ only in case and blanks, and a short signature of it for finding doubles."""

from __future__ import annotations

from hashlib import blake2b

SIGNATURE_BYTES = 16


def normalise_content(text: str) -> str:
    """Lower case, runs of blanks and line ends folded to one blank, outer blanks gone."""
    return " ".join(text.lower().split())


def content_signature(text: str) -> str:
    """Equal for texts whose normalised forms are equal; '' for a text of blanks only, which equals nothing."""
    normalised = normalise_content(text)
    if not normalised:
        return ""
    return blake2b(normalised.encode("utf-8", "surrogatepass"), digest_size=SIGNATURE_BYTES).hexdigest()


def is_contained(inner: str, outer: str) -> bool:
    """Whether ``inner`` stands whole in ``outer``, case and blanks aside. Blank text is in nothing."""
    needle = normalise_content(inner)
    return bool(needle) and needle in normalise_content(outer)
