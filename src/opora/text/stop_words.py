"""Function words of Russian and English that a query does not ask about."""

from __future__ import annotations

_RUSSIAN = """
а без бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее если есть еще
же за и из или им их к как какая какие какой каких какого каком какую ко когда кого ком кто куда ли либо мне много мы
на над наш не него нее нет ни них но о об однако он она они оно от откуда по под почему при про с сколько со так также
такой там те тем то того тоже той только том ты у уже чего чей чем чему что чтобы чья эта эти это этого этой этом этот
эту я является являются
"""
_ENGLISH = """
a about after all am an and any are as at be been before being both but by can could did do does doing each for from
had has have having he her here him his how i if in into is it its may me might more most my no nor not of on or our
out over own she should so some such than that the their them then there these they this those through to too under
until up us very was we were what when where which while who whom whose why will with would you your
"""

STOP_WORDS = frozenset(f"{_RUSSIAN} {_ENGLISH}".split())
"""Folded (ё is е) and not stemmed. They are indexed all the same: a query of nothing else still searches for them."""
