"""Keeps keys unreadable at rest: they are encrypted with a key of the installation, in a file of its own."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken

from opora.domain.errors import Unavailable

KEY_FILE = "secret.key"


class KeyFile:
    """The file is made with the first key that is kept, readable by its owner only, and is in no backup."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / KEY_FILE
        self._fernet: Fernet | None = None

    def seal(self, text: str) -> str:
        return self._cipher(make=True).encrypt(text.encode()).decode("ascii")

    def unseal(self, token: str) -> str:
        """Raises `Unavailable` when the key file is gone or is another one."""
        try:
            return self._cipher(make=False).decrypt(token.encode("ascii")).decode()
        except (InvalidToken, FileNotFoundError) as error:
            raise Unavailable(
                "A stored key can't be read: the key file of this installation is gone or was changed.",
                hint=f"Put the old '{KEY_FILE}' back into the data folder, or set the key of the model anew.",
            ) from error

    def _cipher(self, *, make: bool) -> Fernet:
        if self._fernet is None:
            try:
                self._fernet = Fernet(self._read(make))
            except FileNotFoundError:
                raise
            except (OSError, ValueError) as error:
                raise Unavailable(f"The key file {self._path} can't be used: {error}.") from error
        return self._fernet

    def _read(self, make: bool) -> bytes:
        try:
            return self._path.read_bytes().strip()
        except FileNotFoundError:
            if not make:
                raise
        # Whole or not at all: what half a key has sealed, nobody opens again.
        part = self._path.with_name(f".{KEY_FILE}.{secrets.token_hex(4)}")
        key = Fernet.generate_key()
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(key + b"\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(part, self._path)
        except FileExistsError:
            return self._path.read_bytes().strip()
        finally:
            part.unlink(missing_ok=True)
        return key
