"""`zdissect completion bash|zsh|fish`: the script that makes a shell complete commands, options, fields and files."""

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class, get_completion_class

from .command import Command
from .exit_codes import DONE

VARIABLE = "_ZDISSECT_COMPLETE"
"""What the scripts set when they ask for completions."""

_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' completion type value
    COMPREPLY=()
    compopt -o filenames 2> /dev/null
    for completion in $(COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD %(complete_var)s=bash_complete "$1"); do
        type=${completion%%%%,*} value=${completion#*,}
        case $type in
            dir) COMPREPLY+=($(compgen -d -- "$2")) ;;
            file) COMPREPLY+=($(compgen -f -- "$2")) ;;
            part) compopt +o filenames -o nospace 2> /dev/null; COMPREPLY+=("$value") ;;
            *) COMPREPLY+=("$value") ;;
        esac
    done
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class BashWithFiles(BashComplete):
    """Bash, with files beside other words, and arguments that are gone on with."""

    source_template = _BASH

    def source(self) -> str:
        return self.source_template % self.source_vars()

    def format_completion(self, item: CompletionItem) -> str:
        return f"{'part' if item.part else item.type},{item.value}"


def register() -> None:
    """Makes click use what is here."""
    add_completion_class(BashWithFiles)


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="bash|zsh|fish")
def completion(shell: str) -> int:
    """Prints the script that makes a shell complete commands, options, field names, findings and files.

    It is read by new shells once it stands where the examples put it; in this one, by
    `eval "$(zdissect completion bash)"`.
    """
    register()
    found = get_completion_class(shell)
    assert found is not None
    root = click.get_current_context().find_root()
    click.echo(found(root.command, {}, "zdissect", VARIABLE).source(), nl=False)
    return DONE


commands = {"completion": completion}
