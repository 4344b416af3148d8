"""The guard: what a hostile page or a mistyped address may not do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from viz.server.http.security import Ask, Guard, headers, host_name, policy, refusal, trusted_hosts

OWN = trusted_hosts()


def ask(**changes: str) -> Ask:
    given = {"method": "GET", "path": "/", "host": "127.0.0.1:8050", **changes}
    return Ask(**given)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8050", "localhost:9", "LOCALHOST:8050", "[::1]", "[::1]:8050"]
)
def test_refusal_lets_loopback_names_through(host: str) -> None:
    assert refusal(ask(host=host), OWN) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:8050",
        "evil.example:127",
        "",
        " ",
        "127.0.0.1@evil",
        "localhost\r\nX: y",
        "[::1",
        "::1",
        "127.0.0.1:99999",
        "127.0.0.1:",
        "[::1].evil.example",
        "localhost,evil.example",
        "0.0.0.0",  # noqa: S104  # a host name here, nothing is bound
        "2130706433",
        "127.1",
    ],
)
def test_refusal_stops_other_hosts(host: str) -> None:
    no = refusal(ask(host=host), OWN)
    assert no is not None and no.status.startswith("400")


def test_trusted_hosts_takes_further_names_and_refuses_what_is_no_name() -> None:
    allowed = trusted_hosts(["My-Laptop.local", "fe80::1"])
    assert refusal(ask(host="my-laptop.local:8050"), allowed) is None
    assert refusal(ask(host="[fe80::1]:8050"), allowed) is None
    assert refusal(ask(host="other.local"), allowed) is not None
    for wrong in ("*", "", "http://laptop", ".example", "a b"):
        with pytest.raises(ValueError, match="not a host name"):
            trusted_hosts([wrong])


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1:8050",
        "http://127.0.0.1:9999",
        "http://localhost:8050",
        "http://127.0.0.1:8050.evil.example",
    ],
)
def test_refusal_stops_posts_of_other_origins(origin: str) -> None:
    no = refusal(
        ask(method="POST", path="/_dash-update-component", origin=origin, content_type="application/json"), OWN
    )
    assert no is not None and no.status.startswith("403")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_refusal_stops_requests_that_another_site_started(site: str) -> None:
    for path, mode in (
        ("/_dash-layout", "cors"),
        ("/assets/css/app.css", "no-cors"),
        ("/", "no-cors"),
        ("/live", "navigate"),
    ):
        no = refusal(ask(path=path, site=site, mode=mode), OWN)
        assert no is not None and no.status.startswith("403")


def test_refusal_lets_a_shared_link_open_the_page() -> None:
    assert refusal(ask(site="cross-site", mode="navigate"), OWN) is None


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "text/plain; application/json",
        "application/foo+json",
    ],
)
def test_refusal_stops_posts_that_are_not_json(content_type: str) -> None:
    no = refusal(ask(method="POST", path="/_dash-update-component", content_type=content_type), OWN)
    assert no is not None and no.status.startswith("415")


def test_refusal_lets_our_own_posts_through() -> None:
    own = ask(
        method="POST",
        origin="http://127.0.0.1:8050",
        site="same-origin",
        mode="cors",
        content_type="application/json; charset=utf-8",
    )
    assert refusal(own, OWN) is None


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", ""])
def test_refusal_stops_other_methods(method: str) -> None:
    no = refusal(ask(method=method), OWN)
    assert no is not None and no.status.startswith("405")


def test_policy_allows_no_inline_script_and_nothing_from_outside() -> None:
    text = policy(["'sha256-abc='"])
    scripts = next(part for part in text.split("; ") if part.startswith("script-src"))
    assert scripts == "script-src 'self' 'sha256-abc='"
    assert "default-src 'none'" in text and "frame-ancestors 'self'" in text and "http" not in text
    assert "unsafe-eval" not in text


def test_policy_refuses_what_is_no_hash() -> None:
    with pytest.raises(ValueError, match="not a script hash"):
        policy(["'unsafe-inline'"])


def inner(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain"), ("X-Frame-Options", "ALLOWALL")])
    return [environ["HTTP_HOST"].encode()]


def call(**environ: str) -> tuple[str, dict[str, str], bytes]:
    seen: list[Any] = []
    guard = Guard(inner, OWN, headers([]))
    body = guard(
        {"REQUEST_METHOD": "GET", "PATH_INFO": "/", "wsgi.url_scheme": "http", **environ},
        lambda status, fields, *rest: seen.extend([status, fields]),
    )
    return seen[0], dict(seen[1]), b"".join(body)


def test_guard_puts_its_headers_on_answers_and_refusals() -> None:
    for host in ("127.0.0.1", "evil.example"):
        _, fields, _ = call(HTTP_HOST=host)
        assert fields["X-Frame-Options"] == "SAMEORIGIN" and fields["Referrer-Policy"] == "no-referrer"
        assert (
            fields["X-Content-Type-Options"] == "nosniff" and "default-src 'none'" in fields["Content-Security-Policy"]
        )


def test_guard_says_in_words_why_it_refuses() -> None:
    status, fields, body = call(HTTP_HOST="evil.example")
    assert status.startswith("400") and b"--allow-host" in body
    assert fields["Content-Type"].startswith("text/plain") and int(fields["Content-Length"]) == len(body)


def test_guard_hands_an_ipv6_loopback_on_as_localhost() -> None:
    status, _, body = call(HTTP_HOST="[::1]:8050")
    assert status == "200 OK" and body == b"localhost:8050"


def test_host_name_reads_what_browsers_send() -> None:
    assert [host_name(host) for host in ("a.b:1", "[::1]", "x_y", "é", "-a")] == ["a.b", "[::1]", "x_y", None, None]
