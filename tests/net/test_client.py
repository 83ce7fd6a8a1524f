"""The guarded client against a real server on loopback."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from opora.domain.errors import InvalidInput, Timeout, TooLarge, Unavailable
from opora.net.addresses import AddressPolicy
from opora.net.client import GuardedClient


class Server:
    """Answers by path, counts connections and remembers request heads."""

    def __init__(self) -> None:
        self.connections = 0
        self.heads: list[str] = []
        self.port = 0
        self.release = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.heads.append(head)
            await self.answer(head.split(" ")[1], writer)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, path: str, writer: asyncio.StreamWriter) -> None:
        if path.startswith("/hop/"):
            left = int(path.rpartition("/")[2])
            self.redirect(writer, f"/hop/{left - 1}" if left else "/page")
        elif path == "/inside":
            self.redirect(writer, f"http://127.0.0.1:{self.port}/page")
        elif path == "/file":
            self.redirect(writer, "file:///etc/hostname")
        elif path == "/endless":
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            while True:
                writer.write(b"x" * 4096)
                await writer.drain()
        elif path == "/silent":
            await self.release.wait()
        elif path == "/drip":
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            await writer.drain()
            await self.release.wait()
        elif path.startswith("/garbage"):
            writer.write(b"SSH-2.0-OpenSSH\r\n")
        else:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\npage")

    @staticmethod
    def redirect(writer: asyncio.StreamWriter, target: str) -> None:
        head = f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        writer.write(head.encode())


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()
    listening = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = listening.sockets[0].getsockname()[1]
    yield made
    made.release.set()
    listening.close()
    await listening.wait_closed()


async def to_loopback(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


@pytest.fixture
async def client() -> AsyncIterator[GuardedClient]:
    """A client to which 'ok.test' (this machine, by name) is allowed and the number of this machine is not."""
    made = GuardedClient(AddressPolicy(allowed_hosts=frozenset({"ok.test"})), resolve=to_loopback, read_seconds=5)
    yield made
    await made.close()


async def test_a_page_comes_whole_and_the_host_is_kept(server: Server, client: GuardedClient) -> None:
    got = await client.fetch("GET", f"http://ok.test:{server.port}/page")
    assert (got.status, got.body) == (200, b"page")
    assert f"host: ok.test:{server.port}" in server.heads[0].lower()


async def test_refused_by_number_without_a_connection(server: Server, client: GuardedClient) -> None:
    for host in ("127.0.0.1", "127.1", "2130706433", "user@127.0.0.1", "ok.test@127.0.0.1", "other.test"):
        with pytest.raises(InvalidInput) as caught:
            await client.fetch("GET", f"http://{host}:{server.port}/page")
        assert caught.value.hint
    assert server.connections == 0


@pytest.mark.parametrize(
    "url", ["file:///etc/hostname", "gopher://ok.test/", "ftp://ok.test/", "ok.test", "", "http://", "http://[::1"]
)
async def test_only_http_and_https(client: GuardedClient, url: str) -> None:
    with pytest.raises(InvalidInput):
        await client.fetch("GET", url)


async def test_a_redirect_inside_is_refused(server: Server, client: GuardedClient) -> None:
    with pytest.raises(InvalidInput):
        await client.fetch("GET", f"http://ok.test:{server.port}/inside", follow_redirects=True)
    assert server.connections == 1


async def test_a_redirect_to_a_file_is_refused(server: Server, client: GuardedClient) -> None:
    with pytest.raises((InvalidInput, Unavailable)):
        await client.fetch("GET", f"http://ok.test:{server.port}/file", follow_redirects=True)


async def test_five_redirects_are_followed_and_not_six(server: Server, client: GuardedClient) -> None:
    got = await client.fetch("GET", f"http://ok.test:{server.port}/hop/4", follow_redirects=True)
    assert got.body == b"page"
    with pytest.raises(Unavailable, match="5 times"):
        await client.fetch("GET", f"http://ok.test:{server.port}/hop/5", follow_redirects=True)


async def test_redirects_are_not_followed_unasked(server: Server, client: GuardedClient) -> None:
    assert (await client.fetch("GET", f"http://ok.test:{server.port}/hop/0")).status == 302


async def test_a_body_beyond_the_limit_is_cut_off(server: Server, client: GuardedClient) -> None:
    with pytest.raises(TooLarge):
        await client.fetch("GET", f"http://ok.test:{server.port}/endless", max_bytes=10_000)
    with pytest.raises(TooLarge):
        await client.fetch("GET", f"http://ok.test:{server.port}/page", max_bytes=3)
    assert (await client.fetch("GET", f"http://ok.test:{server.port}/page", max_bytes=4)).body == b"page"


async def test_silence_ends_in_a_timeout(server: Server) -> None:
    policy = AddressPolicy(allow_private=True)
    client = GuardedClient(policy, read_seconds=0.05)
    with pytest.raises(Timeout):
        await client.fetch("GET", f"http://127.0.0.1:{server.port}/silent")
    await client.close()


async def test_a_dripping_body_ends_in_a_timeout(server: Server, client: GuardedClient) -> None:
    with pytest.raises(Timeout):
        await client.fetch("GET", f"http://ok.test:{server.port}/drip", total_seconds=0.05)


async def test_errors_name_the_host_and_no_secret(server: Server, client: GuardedClient) -> None:
    with pytest.raises(Unavailable) as caught:
        await client.fetch("GET", f"http://name:pass@ok.test:{server.port}/garbage?key=secret")
    assert "ok.test" in caught.value.message
    assert "pass" not in str(caught.value)
    assert "secret" not in str(caught.value)


async def test_a_closed_port_is_unavailable(client: GuardedClient) -> None:
    free = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    port = free.sockets[0].getsockname()[1]
    free.close()
    await free.wait_closed()
    with pytest.raises(Unavailable):
        await client.fetch("GET", f"http://ok.test:{port}/")


async def test_proxies_of_the_environment_are_ignored(
    server: Server, client: GuardedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    fresh = GuardedClient(AddressPolicy(allowed_hosts=frozenset({"ok.test"})), resolve=to_loopback)
    assert (await fresh.fetch("GET", f"http://ok.test:{server.port}/page")).body == b"page"
    await fresh.close()


async def test_tls_checks_the_name_though_the_address_is_pinned(tmp_path: Path) -> None:
    serving, trusting = tls_contexts("ok.test", tmp_path)
    made = Server()
    listening = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=serving)
    port = listening.sockets[0].getsockname()[1]
    client = GuardedClient(AddressPolicy(allow_private=True), resolve=to_loopback, ssl_context=trusting)
    assert (await client.fetch("GET", f"https://ok.test:{port}/page")).body == b"page"
    with pytest.raises(Unavailable):
        await client.fetch("GET", f"https://other.test:{port}/page")
    await client.close()
    listening.close()


def tls_contexts(name: str, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context with a fresh certificate for ``name``, and a client's that trusts it alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    public = certificate.public_bytes(Encoding.PEM)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "server.pem").write_bytes(private + public)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(folder / "server.pem")
    return serving, ssl.create_default_context(cadata=public.decode())
