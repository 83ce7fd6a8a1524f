"""The log of answers that the settings name: in this process, or in Redis."""

from __future__ import annotations

from datetime import timedelta

from opora.domain.errors import InvalidInput, Unavailable
from opora.ports import Clock, NewId, StreamLog
from opora.settings import Settings

_SCHEMES = ("redis://", "rediss://", "unix://")


def make_log(settings: Settings, *, clock: Clock, new_id: NewId) -> StreamLog:
    """Nothing is sent yet: a server that is down is told of when somebody asks. Raises `InvalidInput`, and
    `Unavailable` when the client is not installed."""
    ttl = timedelta(seconds=settings.stream_ttl)
    if settings.stream_manager == "memory":
        from opora.stream.memory import MemoryStreamLog

        return MemoryStreamLog(clock=clock, ttl=ttl)
    try:
        from opora.stream.redis import RedisStreamLog
    except ImportError as exc:
        raise Unavailable(
            "STREAM_MANAGER_TYPE is redis, and the Redis client is not installed.",
            hint="Install it: pip install -e '.[redis]' in Opora's folder, inside .venv.",
        ) from exc
    password = settings.redis_password.get_secret_value() if settings.redis_password else None
    try:
        return RedisStreamLog.at(
            redis_url(settings), owner=new_id(), password=password, prefix=settings.redis_prefix, ttl=ttl
        )
    except ValueError as exc:
        raise InvalidInput.of("redis_addr", f"This is no address of a Redis server: {exc}") from exc


def redis_url(settings: Settings) -> str:
    """The address with its database. A password that stands in it is kept."""
    if settings.redis_url is not None:
        return settings.redis_url.get_secret_value()
    address = settings.redis_addr
    if address.startswith(_SCHEMES):
        return address
    if "://" in address:
        raise InvalidInput.of("redis_addr", "REDIS_ADDR is host:port, or begins with redis:// or rediss://.")
    return f"redis://{address}/{settings.redis_db}"
