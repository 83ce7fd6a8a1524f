"""The one HTTP client for calls to the outside: guarded addresses, no proxies, bounded in time and size."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import httpcore2
import httpx2

from opora.domain.errors import InvalidInput, Timeout, TooLarge, Unavailable
from opora.net.addresses import AddressPolicy, PinnedBackend, Resolve, resolve_by_system

SCHEMES = frozenset({"http", "https"})
MAX_REDIRECTS = 5
MAX_BYTES = 50 * 1024 * 1024


class _GuardedTransport(httpx2.AsyncHTTPTransport):
    """httpx2's transport over a pool that connects through `PinnedBackend`; each redirect hop comes through here."""

    def __init__(self, policy: AddressPolicy, resolve: Resolve, ssl_context: ssl.SSLContext | None) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl_context or httpx2.create_ssl_context(trust_env=False),
            max_connections=100,
            max_keepalive_connections=20,
            keepalive_expiry=30.0,
            network_backend=PinnedBackend(policy, resolve),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        check_scheme(request.url)
        return await super().handle_async_request(request)


def check_scheme(url: httpx2.URL) -> None:
    if url.scheme not in SCHEMES or not url.host:
        raise InvalidInput(
            f"Addresses of the kind '{url.scheme}' are refused.", hint="Give a full http or https address."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A whole response; ``url`` is the address after redirects."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str


@dataclass(slots=True)
class Opened:
    """A response whose body is still to come."""

    status: int
    headers: Mapping[str, str]
    url: str
    _response: httpx2.Response = field(repr=False)
    _limit: int = MAX_BYTES

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The decoded body, piece by piece; raises `TooLarge` above the limit."""
        seen = 0
        with _named_errors(self._response.request.url):
            async for chunk in self._response.aiter_bytes():
                seen += len(chunk)
                if seen > self._limit:
                    raise _too_large(self._response.request.url, self._limit)
                yield chunk

    async def read(self) -> bytes:
        declared = self.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > self._limit:
            raise _too_large(self._response.request.url, self._limit)
        return b"".join([chunk async for chunk in self.chunks()])


class GuardedClient:
    """Calls http and https addresses that an `AddressPolicy` lets through. Environment proxies are not looked at."""

    def __init__(
        self,
        policy: AddressPolicy | None = None,
        *,
        connect_seconds: float = 10.0,
        read_seconds: float = 60.0,
        resolve: Resolve = resolve_by_system,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._policy = policy or AddressPolicy()
        self._timeout = httpx2.Timeout(read_seconds, connect=connect_seconds)
        self._resolve = resolve
        self._ssl_context = ssl_context

    @cached_property
    def _client(self) -> httpx2.AsyncClient:
        """Made at the first call: reading the certificates takes time that a start has no use for."""
        return httpx2.AsyncClient(
            transport=_GuardedTransport(self._policy, self._resolve, self._ssl_context),
            trust_env=False,
            timeout=self._timeout,
            max_redirects=MAX_REDIRECTS,
            # A body that was never packed can't grow beyond its limit while it is unpacked.
            headers={"accept-encoding": "identity", "user-agent": "opora"},
        )

    @asynccontextmanager
    async def open(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        max_bytes: int = MAX_BYTES,
        follow_redirects: bool = False,
    ) -> AsyncIterator[Opened]:
        """A response to be read in pieces; closed at the end of the block."""
        try:
            address = httpx2.URL(url)
        except (httpx2.InvalidURL, ValueError, TypeError) as error:
            raise InvalidInput("This is not an address.", hint="Give a full http or https address.") from error
        check_scheme(address)
        with _named_errors(address):
            request = self._client.build_request(method, address, headers=dict(headers or {}), json=json)
            response = await self._client.send(request, stream=True, follow_redirects=follow_redirects)
        try:
            yield Opened(response.status_code, response.headers, str(response.url), response, max_bytes)
        finally:
            await response.aclose()

    async def fetch(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        max_bytes: int = MAX_BYTES,
        follow_redirects: bool = False,
        total_seconds: float = 120.0,
    ) -> Fetched:
        """A whole response, within ``total_seconds`` however slowly it drips."""
        try:
            async with asyncio.timeout(total_seconds):
                async with self.open(
                    method, url, headers=headers, json=json, max_bytes=max_bytes, follow_redirects=follow_redirects
                ) as opened:
                    body = await opened.read()
        except TimeoutError as error:
            raise Timeout(f"The call took longer than {total_seconds:g} s.", hint="Try again later.") from error
        return Fetched(status=opened.status, headers=opened.headers, body=body, url=opened.url)

    async def close(self) -> None:
        if "_client" in self.__dict__:
            await self._client.aclose()


@contextmanager
def _named_errors(url: httpx2.URL) -> Iterator[None]:
    """Turns the client's errors into ours. They name host and port only: paths and queries may hold secrets."""
    try:
        yield
    except httpx2.TimeoutException as error:
        raise Timeout(f"{_where(url)} did not answer in time.", hint="Check that the service is up.") from error
    except httpx2.TooManyRedirects as error:
        raise Unavailable(f"{_where(url)} redirects more than {MAX_REDIRECTS} times.") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        reason = type(error).__name__
        raise Unavailable(f"{_where(url)} can't be reached ({reason}).", hint="Check address and service.") from error


def _where(url: httpx2.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace').rpartition('@')[2]}"


def _too_large(url: httpx2.URL, limit: int) -> TooLarge:
    return TooLarge(f"The answer of {_where(url)} is larger than {limit:,} bytes.", hint="The limit is a setting.")
