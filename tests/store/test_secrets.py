"""Keys at rest: sealed with a key file that only its owner reads, and told when that is gone."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from opora.domain.errors import Unavailable
from opora.store.secrets import KEY_FILE, KeyFile


def test_what_is_sealed_is_opened_by_the_same_folder_only(tmp_path: Path) -> None:
    here, there = tmp_path / "a", tmp_path / "b"
    here.mkdir()
    there.mkdir()
    secret = "sk-proj-0123456789-abcdef"  # long enough never to turn up by chance in the text of a token
    token = KeyFile(here).seal(secret)
    assert secret not in token
    assert KeyFile(here).unseal(token) == secret
    assert KeyFile(here).seal(secret) != token
    KeyFile(there).seal("другой")
    for folder in (there, tmp_path):
        with pytest.raises(Unavailable, match="can't be read"):
            KeyFile(folder).unseal(token)


def test_the_file_is_made_once_for_its_owner_only_and_not_for_reading(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        KeyFile(tmp_path).unseal("gAAAAA")
    assert list(tmp_path.iterdir()) == []
    first = KeyFile(tmp_path).seal("a")
    file = tmp_path / KEY_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert KeyFile(tmp_path).unseal(first) == "a"
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


def test_a_file_that_holds_no_key_is_named(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_text("no key")
    with pytest.raises(Unavailable, match="key file"):
        KeyFile(tmp_path).seal("a")
