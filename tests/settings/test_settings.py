"""Settings that must not open a door by being empty."""

from __future__ import annotations

import pytest

from opora.domain.errors import InvalidInput
from opora.settings import Settings, default_data_folder


def test_an_empty_key_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPORA_API_KEY", "")
    settings = Settings(host="0.0.0.0")
    assert settings.api_key is None
    with pytest.raises(InvalidInput) as caught:
        settings.check_bind()
    assert "OPORA_API_KEY" in caught.value.hint


def test_an_empty_folder_is_the_platforms_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPORA_DATA", "")
    assert Settings().data == default_data_folder()


def test_other_machines_are_let_in_with_a_key_only() -> None:
    Settings(host="0.0.0.0", api_key="k").check_bind()
    Settings(host="127.0.0.1").check_bind()
    with pytest.raises(InvalidInput):
        Settings(host="192.168.1.5").check_bind()
