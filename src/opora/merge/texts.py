"""Normal forms and tokens of the texts of one merge, each made once."""

from __future__ import annotations

from opora.text.signature import normalise_content
from opora.text.tokens import codes, names, token_set


class Texts:
    """A memory for one merge; it lives no longer than that."""

    def __init__(self) -> None:
        self._normal: dict[str, str] = {}
        self._tokens: dict[str, frozenset[str]] = {}
        self._facts: dict[str, frozenset[str]] = {}

    def normal(self, text: str) -> str:
        known = self._normal.get(text)
        if known is None:
            known = self._normal[text] = normalise_content(text)
        return known

    def tokens(self, text: str) -> frozenset[str]:
        known = self._tokens.get(text)
        if known is None:
            known = self._tokens[text] = token_set(text)
        return known

    def facts(self, text: str) -> frozenset[str]:
        """Numbers, codes and names: what a text may say that a text much like it does not."""
        known = self._facts.get(text)
        if known is None:
            known = self._facts[text] = codes(text) | names(text)
        return known

    def contains(self, outer: str, inner: str) -> bool:
        needle = self.normal(inner)
        return bool(needle) and needle in self.normal(outer)

    def contains_lines(self, outer: str, inner: str) -> bool:
        """Whether each line of ``inner`` stands in ``outer``: true of table rows under a repeated head too."""
        normal = self.normal(outer)
        return all(self.normal(line) in normal for line in inner.splitlines() if line.strip())
