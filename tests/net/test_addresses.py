"""Which addresses are refused, and that the address checked is the one connected to."""

import ipaddress
from collections.abc import Iterable
from typing import Any

import httpcore2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.errors import InvalidInput, Unavailable
from opora.net.addresses import AddressPolicy, PinnedBackend, is_inside

NAMES = {
    "ok.test": ["203.0.113.10"],
    "inside.test": ["10.0.0.5"],
    "mixed.test": ["203.0.113.10", "169.254.169.254"],
    "six.test": ["::ffff:127.0.0.1"],
    "two.test": ["203.0.113.10", "203.0.113.11"],
}


async def resolve(host: str, port: int) -> list[str]:
    if host not in NAMES:
        raise OSError("unknown")
    return NAMES[host]


class Recorder(httpcore2.AsyncNetworkBackend):
    """Writes down what would be connected to, and refuses it."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.calls.append((host, port))
        raise httpcore2.ConnectError("nobody there")


INSIDE = [
    "0.0.0.0 0.1.2.3 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.255.0.9 169.254.169.254 172.16.0.1 172.31.255.9",
    "192.0.0.192 192.168.1.1 198.18.0.1 224.0.0.1 255.255.255.255 :: ::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1",
    "::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a00:1 2002:7f00:1:: ::7f00:1",
]


@pytest.mark.parametrize("address", [address for line in INSIDE for address in line.split()])
def test_inner_addresses_are_known(address: str) -> None:
    assert is_inside(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "203.0.113.10", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"]
)
def test_public_addresses_pass(address: str) -> None:
    assert not is_inside(ipaddress.ip_address(address))


@settings(max_examples=100)
@given(st.ip_addresses(v=4))
def test_an_address_in_ipv6_dress_is_judged_as_itself(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    for dressed in ((0xFFFF << 32) | number, (0x64FF9B << 96) | number, (0x2002 << 112) | (number << 80)):
        assert is_inside(ipaddress.IPv6Address(dressed)) == is_inside(address)


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "0", "169.254.169.254"),
        *("::1", "::ffff:10.0.0.1", "fe80::1%eth0", "inside.test", "mixed.test", "six.test"),
    ],
)
async def test_no_connection_is_opened_to_a_refused_address(host: str) -> None:
    recorder = Recorder()
    with pytest.raises(InvalidInput) as caught:
        await PinnedBackend(AddressPolicy(setting="OPORA_X"), resolve, recorder).connect_tcp(host, 80)
    assert recorder.calls == []
    assert caught.value.details["reason"] == "address_refused"
    assert "OPORA_X" in caught.value.hint


async def test_the_address_checked_is_the_address_connected() -> None:
    answers = iter([["203.0.113.10"], ["127.0.0.1"]])

    async def rebinding(host: str, port: int) -> list[str]:
        return next(answers)

    recorder = Recorder()
    backend = PinnedBackend(AddressPolicy(), rebinding, recorder)
    with pytest.raises(httpcore2.ConnectError):
        await backend.connect_tcp("rebind.test", 443)
    assert recorder.calls == [("203.0.113.10", 443)]
    with pytest.raises(InvalidInput):
        await backend.connect_tcp("rebind.test", 443)
    assert recorder.calls == [("203.0.113.10", 443)]


async def test_each_checked_address_is_tried() -> None:
    recorder = Recorder()
    with pytest.raises(httpcore2.ConnectError):
        await PinnedBackend(AddressPolicy(), resolve, recorder).connect_tcp("two.test", 80)
    assert recorder.calls == [("203.0.113.10", 80), ("203.0.113.11", 80)]


@pytest.mark.parametrize("host", ["host.docker.internal", "нет.test", "a" * 300])
async def test_an_unknown_name_is_unavailable(host: str) -> None:
    recorder = Recorder()
    with pytest.raises(Unavailable):
        await PinnedBackend(AddressPolicy(), resolve, recorder).connect_tcp(host, 80)
    assert recorder.calls == []


async def test_local_sockets_are_refused() -> None:
    with pytest.raises(InvalidInput):
        await PinnedBackend(AddressPolicy(), resolve).connect_unix_socket("/run/docker.sock")


@pytest.mark.parametrize(
    ("allowed", "host", "port", "passes"),
    [
        ("127.0.0.1:11434", "127.0.0.1", 11434, True),
        ("127.0.0.1:11434", "127.0.0.1", 5432, False),
        ("inside.test", "Inside.test.", 80, True),
        ("inside.test", "not-inside.test", 80, False),
        ("[::1]:8000", "::1", 8000, True),
    ],
)
def test_an_administrator_allows_a_host_or_a_port_of_it(allowed: str, host: str, port: int, passes: bool) -> None:
    assert AddressPolicy(allowed_hosts=frozenset({allowed})).allows(host, port) is passes
