"""`zdissect anonymize IN... OUT`: a capture that can be shared."""

import click

from zdissect.anonymize.anonymizer import Anonymizer
from zdissect.anonymize.secret import Secret
from zdissect.capture import CaptureError, open_capture
from zdissect.capture.output_file import OutputFile
from zdissect.capture.spool import Spool

from .common import DONE, UNREADABLE, complain
from .decode_as import decode_as


@click.command("anonymize")
@click.argument("files", nargs=-1, required=True, metavar="IN...")
@click.argument("out", metavar="OUT")
@click.option("--seed", metavar="TEXT", help="The same seed gives the same; who knows it can check guesses.")
@click.option("--keep", type=click.Choice(["ros2"]), multiple=True, help="Keep types of ROS 2 in keys.")
@click.option("-d", "rules", multiple=True, metavar="RULE", help="Decode as: tcp.port==9000,zenoh or udp.port==...")
@click.option("--force", is_flag=True, help="Overwrite OUT if it exists.")
@click.option("-q", "quiet", is_flag=True, help="Don't say what was done.")
def anonymize(
    files: tuple[str, ...],
    out: str,
    seed: str | None,
    keep: tuple[str, ...],
    rules: tuple[str, ...],
    force: bool,
    quiet: bool,
) -> int:
    """Writes a capture that can be shared: keys, ZenohIDs, addresses, texts, payloads, attachments and secrets are
    replaced by others of the same length, the same by the same, so that it is dissected as before. Times, ports,
    numbers, wildcards, and which keys have parts in common stay. What isn't understood is overwritten.

    OUT is pcapng; - is standard output. Several files become one. Nothing can be told back without the secret, which is
    a random one that is forgotten, or made of --seed.
    """
    options = decode_as(rules)
    try:
        output = OutputFile(out, files, force)
    except CaptureError as problem:
        raise click.UsageError(str(problem)) from problem
    with Spool() as spool:
        anonymizer = Anonymizer(spool, options, Secret(seed), "ros2" in keep)
        problems = _read(files, spool, anonymizer)
        with output:
            for place, frame in enumerate(spool.frames()):
                output.write(anonymizer.frame(frame, spool.new(place, 0, len(frame.data))))
    for text in (*map(str, problems), *(() if quiet else anonymizer.account.lines())):
        complain(text)
    return UNREADABLE if problems else DONE


def _read(files: tuple[str, ...], spool: Spool, anonymizer: Anonymizer) -> list[CaptureError]:
    """The first pass over the frames of all files; what couldn't be read of them."""
    problems: list[CaptureError] = []
    for name in files:
        try:
            with open_capture(name) as capture:
                for frame in capture:
                    spool.add(frame)
                    anonymizer.feed(frame._replace(source="", number=len(spool)))
        except CaptureError as problem:
            problems.append(problem)
    anonymizer.close()
    return problems


commands = {"anonymize": anonymize}
