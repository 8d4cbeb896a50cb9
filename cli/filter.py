"""`zdissect filter`: checks a display filter, and says what it reads and how it is written in SQL."""

import sys
from typing import TYPE_CHECKING

import click

from zdissect.output.text import prose

from . import completers
from .command import Command
from .common import complain
from .exit_codes import DONE, USAGE
from .options import pager_option
from .paging import write_paged

if TYPE_CHECKING:
    from zdissect.filters import Filter

LANGUAGE = """\
A display filter selects messages, as in Wireshark:

  message == PUSH                        a column of the message table
  zenoh.push.scope == 1                  a field of the protocol
  key_expr                               a name alone: it is present
  not finding and severity >= warning    and or not && || !, ( )

  == != < <= > >=                        also eq ne lt le gt ge
  === all values are equal               !== some value differs
  any NAME ..., all NAME ...             some, or all, of its values; any is the default, but all for !=
  NAME contains "text"  NAME contains 00:ff
  NAME matches "a.*b"   NAME ~ r"\\d+"    a regular expression (RE2), ignoring case
  NAME in {1, 5 .. 9}   NAME not in {1}
  KEY intersects "a/*"  KEY within "a/**"  KEY includes "a/b"
  NAME & 0x20                            bits of a number
  NAME[0:4]  [1-3]  [2]  [:4]  [-2:]     parts of text and bytes: offset:length, first-last
  len() lower() upper() count() string()

Values: 12, 0x0c, 0b1100; names of values in any case (priority <= Data, encoding_id == text/plain); 10ms, 1.5s, 2min;
2026-01-31T12:00:00Z or seconds since 1970; 10.0.0.0/8; ZenohIDs as logs write them, or in wire order with colons;
00:01:ff or 0001ff for bytes; text, in "quotes" if it has spaces or punctuation, r"raw" without escapes.

A comparison with a missing value is false, even !=; !(a == b) matches if a is missing or differs.
A message has its own fields and those of the FRAME around it, its batch, packet and session.

Names: `zdissect fields` lists those of the protocol; columns are in docs/tables.md; packets have frame.number
frame.time frame.time_relative frame.len eth.addr ip.addr ip.src ip.dst ipv6.addr tcp.port tcp.stream udp.port.
Findings have finding, severity and finding.message; extensions have ext.id and ext.name. What comes later
(zenoh.request.answered, .response_in, .final_in, .answer_time) takes a second pass over the file.

Examples:

  zdissect -Y 'key_expr within "robot/**" and payload_len > 1000' capture.pcap
  zdissect -Y 'response_time_ns > 10ms' -T line capture.pcap
  zdissect -Y 'request.answered == false' -T line capture.pcap
  zdissect -Y 'severity >= warning' capture.pcap
  zdissect -Y 'tcp.stream == 3 and message in {OPEN_SYN, OPEN_ACK, CLOSE}' capture.pcap
  zdissect filter --sql 'payload[0:4] == 00:01:00:00'
"""


class _SqlCommand(Command):
    """A command whose --sql may have a dialect, and mostly hasn't."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        out: list[str] = []
        for word in args:
            if out and out[-1] == "--sql":
                dialect = word if word in ("duckdb", "spark") else "duckdb"
                out[-1] = f"--sql={dialect}"
                if word == dialect:
                    continue
            out.append(word)
        if out and out[-1] == "--sql":
            out[-1] = "--sql=duckdb"
        return super().parse_args(ctx, out)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(f"\n{LANGUAGE}")


@click.command("filter", cls=_SqlCommand)
@click.argument("expression", required=False, shell_complete=completers.filters)
@click.option(
    "--sql", type=click.Choice(["duckdb", "spark"]), metavar="[duckdb|spark]", help="Print it as a condition."
)
@click.option("--columns", is_flag=True, help="Print the columns that it reads, one per line.")
@pager_option
def filter_command(expression: str | None, sql: str | None, columns: bool, no_pager: bool) -> int:
    """Checks a display filter (-Y), and prints what it means and reads; without one, describes the language."""
    if expression is None:
        write_paged([LANGUAGE], not no_pager)
        return DONE
    from zdissect.filters import FilterError, compile_filter

    try:
        wanted = compile_filter(expression)
        if sql is not None:
            _print_sql(wanted, sql)
        elif columns:
            click.echo("".join(f"{name}\n" for name in sorted(wanted.columns)), nl=False)
        else:
            _print_meaning(wanted)
    except FilterError as fault:
        sys.stdout.flush()
        what, *where = str(fault).splitlines()
        complain(what)
        for line in where:
            click.echo(prose(line), err=True)
        return USAGE
    return DONE


def _print_sql(wanted: "Filter", dialect: str) -> None:
    from zdissect.filters.sql import functions

    condition = wanted.sql(dialect)
    click.echo(condition)
    needed = sorted(functions(condition))
    if needed:
        complain(f"zdissect.filters.sql.register(connection) makes its functions: {', '.join(needed)}")


def _print_meaning(wanted: "Filter") -> None:
    from zdissect.filters.spelling import spelt
    from zdissect.filters.syntax import parse, words

    condition = parse(wanted.text)
    click.echo(spelt(condition))
    known = [(name, found) for name in words(condition) if (found := _named(name)) is not None]
    width = max(len(name) for name, _ in known)
    for name, (kind, doc) in known:
        click.echo(f"  {name:<{width}}  {kind:<8}  {doc}")
    if wanted.looks_ahead:
        click.echo("It depends on later messages: the file is read twice.")
    elif wanted.needs_tape:
        click.echo("It reads what the message table doesn't have: it works on captures only, not on tables or in SQL.")


def _named(word: str) -> tuple[str, str] | None:
    from zdissect.filters import name

    found = name(word)
    return None if found is None else (found.type.kind, found.doc)


commands = {"filter": filter_command}
