"""Which addresses may be called: names are resolved once, every answer is checked, and the checked one is connected.

This sits below the HTTP client, where connections are opened, so that redirects, pools and odd spellings of an address
all come past it.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import httpcore2

from opora.domain.errors import InvalidInput, Unavailable

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""A host name and a port to numeric addresses."""

_INSIDE = (
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 "
    "198.18.0.0/15 224.0.0.0/3 ::/128 ::1/128 fc00::/7 fe80::/9 ff00::/8"
)
INSIDE = tuple(ipaddress.ip_network(network) for network in _INSIDE.split())
"""Unspecified, private, carrier, loopback, link-local (the clouds' metadata too), benchmarking, multicast, reserved."""

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")


def is_inside(address: IPAddress) -> bool:
    """Whether an address, or the IPv4 address that it carries in IPv6 dress, is not of the public network."""
    if isinstance(address, ipaddress.IPv6Address):
        carried = address.ipv4_mapped or address.sixtofour
        if carried is None and (address in _NAT64 or address in _COMPATIBLE):
            carried = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if carried is not None:
            return is_inside(carried)
    return any(address in network for network in INSIDE if network.version == address.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressPolicy:
    """What may be reached beside the public network: hosts (``host`` or ``host:port``) that an administrator named."""

    allowed_hosts: frozenset[str] = frozenset()
    allow_private: bool = False
    setting: str = "OPORA_EMBEDDING_URL or OPORA_CHAT_URL"
    """The setting by which an administrator allows an inner address; hints name it."""

    def allows(self, host: str, port: int) -> bool:
        name = host.lower().rstrip(".")
        return self.allow_private or not self.allowed_hosts.isdisjoint((name, f"{name}:{port}", f"[{name}]:{port}"))

    def check(self, host: str, port: int, addresses: Iterable[IPAddress]) -> None:
        """Raises `InvalidInput` if any of the addresses is inside and the host is not allowed."""
        if not self.allows(host, port) and any(is_inside(address) for address in addresses):
            raise InvalidInput(
                f"The address {host}:{port} leads to an inner network and is refused.",
                hint=f"If it is meant, an administrator can allow it by {self.setting}.",
                details={"reason": "address_refused", "host": host, "port": port},
            )


async def resolve_by_system(host: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _literal(host: str) -> IPAddress | None:
    """A host that is a number already, also in the spellings that the C library takes (``127.1``, ``0x7f.1``)."""
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, UnicodeEncodeError):
        return None


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Opens TCP connections to the very address that was checked. TLS still checks the name."""

    def __init__(
        self, policy: AddressPolicy, resolve: Resolve, inner: httpcore2.AsyncNetworkBackend | None = None
    ) -> None:
        self._policy = policy
        self._resolve = resolve
        self._inner = inner or httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = await self._addresses(host, port, timeout)
        self._policy.check(host, port, addresses)
        for address in addresses[:-1]:
            try:
                return await self._inner.connect_tcp(str(address), port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._inner.connect_tcp(str(addresses[-1]), port, timeout, local_address, socket_options)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise InvalidInput("Addresses of local sockets are refused.", hint="Give an http or https address.")

    async def _addresses(self, host: str, port: int, seconds: float | None) -> list[IPAddress]:
        literal = _literal(host)
        if literal is not None:
            return [literal]
        try:
            async with asyncio.timeout(seconds):
                numbers = await self._resolve(host, port)
            addresses = [ipaddress.ip_address(number.partition("%")[0]) for number in numbers]
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(host) from error
        except (OSError, UnicodeError, ValueError) as error:
            raise _unknown_host(host) from error
        if not addresses:
            raise _unknown_host(host)
        return addresses


def _unknown_host(host: str) -> Unavailable:
    return Unavailable(f"The host name {host} is not known.", hint="Check the address, and the name service.")
