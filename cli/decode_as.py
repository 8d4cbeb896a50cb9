"""`-d tcp.port==9000,zenoh`: which ports carry Zenoh, whatever they look like (tshark's decode as)."""

import re

import click

from zdissect.pipeline import Options

_RULE = re.compile(r"(tcp|udp)\.port==(\d+),(\w+)")


def decode_as(rules: tuple[str, ...]) -> Options:
    """The options for these rules. Raises click.BadParameter for one that isn't understood."""
    ports: dict[str, set[int]] = {"tcp": set(), "udp": set()}
    for rule in rules:
        match = _RULE.fullmatch(rule.replace(" ", ""))
        if match is None:
            raise click.BadParameter(f"{rule!r} isn't understood; write tcp.port==9000,zenoh", param_hint="-d")
        layer, port, protocol = match.groups()
        if protocol != "zenoh":
            raise click.BadParameter(f"unknown protocol {protocol!r}; only zenoh is supported", param_hint="-d")
        if not 0 < int(port) < 65536:
            raise click.BadParameter(f"{port} isn't a port (1 to 65535)", param_hint="-d")
        ports[layer].add(int(port))
    return Options(frozenset(ports["tcp"]), frozenset(ports["udp"]))
