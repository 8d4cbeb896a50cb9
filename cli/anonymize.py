"""`zdissect anonymize IN... OUT`: a capture that can be shared."""

import click

from zdissect.anonymize.anonymizer import Anonymizer
from zdissect.anonymize.secret import Secret
from zdissect.capture import CaptureError
from zdissect.capture.output_file import OutputFile
from zdissect.capture.spool import Spool

from . import completers
from .captures import Captures
from .command import Command
from .common import complain, complain_of_leftovers
from .exit_codes import DONE, UNREADABLE
from .options import CaptureOptions, as_records, decode_as_option, quiet_option


@click.command("anonymize", cls=Command)
@click.argument("files", nargs=-1, metavar="IN...", shell_complete=completers.files)
@click.argument("out", metavar="OUT", shell_complete=completers.files)
@click.option(
    "--seed", metavar="TEXT", help="The same seed gives the same values; anyone who knows it can check guesses."
)
@click.option("--keep", type=click.Choice(["ros2"]), multiple=True, help="Keep ROS 2 types in keys.")
@decode_as_option
@click.option("--force", is_flag=True, help="Overwrite OUT if it exists.")
@quiet_option("Don't say what was done.")
@as_records(capture=CaptureOptions)
def anonymize(
    capture: CaptureOptions, out: str, seed: str | None, keep: tuple[str, ...], force: bool, quiet: bool
) -> int:
    """Writes a capture that can be shared: keys, ZenohIDs, addresses, texts, payloads, attachments and secrets are
    consistently replaced by others of the same length, so that it is dissected as before. Times, ports, numbers,
    wildcards, and which keys have parts in common stay. Anything not understood is overwritten.

    OUT is pcapng; - is standard output. Several files become one. Nothing can be traced back without the secret, which
    is random and discarded, or derived from --seed.
    """
    if not capture.files:
        raise click.UsageError(f"give captures to read, and a file to write: zdissect anonymize {out} OUT")
    try:
        output = OutputFile(out, capture.files, force)
    except CaptureError as problem:
        raise click.UsageError(str(problem)) from problem
    with Spool() as spool:
        anonymizer = Anonymizer(spool, capture.pipeline(), Secret(seed), "ros2" in keep)
        frames = Captures(capture.files)
        for frame in frames:
            spool.add(frame)
            anonymizer.feed(frame._replace(source="", number=len(spool)))
        anonymizer.close()
        if len(spool) or not frames.problems:
            with output:
                for place, frame in enumerate(spool.frames()):
                    output.write(anonymizer.frame(frame, spool.new(place, 0, len(frame.data))))
    complain_of_leftovers(output.removed)
    said = anonymizer.account.lines() if len(spool) and not quiet else []
    for text in (*map(str, frames.problems), *said):
        complain(text)
    return UNREADABLE if frames.problems else DONE


commands = {"anonymize": anonymize}
