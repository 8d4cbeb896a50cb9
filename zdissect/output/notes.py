"""References to the wire notes: what `notes 2.1 and 9 no. 5` means, as links to the sections of docs/wire-notes.md."""

import re
from collections.abc import Iterator

PAGE = "wire-notes.md"
"""The notes, next to docs/fields.md. Each section has an anchor that is its number."""

_ITEM = r"\d+(?:\.\d+)?(?: no\. (?:\d+|K)| E\d+\w*| Others)?"
_REFERENCE = re.compile(rf"\b[Nn]otes ({_ITEM}(?:(?:, | and | to ){_ITEM})*)")


def sections(text: str) -> list[str]:
    """The sections that a text names: `2.1` and `9` of "notes 2.1 and 9 no. 5"."""
    return list(dict.fromkeys(section for _, _, section, _ in _named(text)))


def entries(text: str) -> list[tuple[str, int]]:
    """The numbered entries that a text names, with their sections: ("9", 5) of "notes 2.1 and 9 no. 5"."""
    return [(section, int(number)) for _, _, section, numbers in _named(text) for number in numbers]


def linked(text: str) -> str:
    """Markdown with a link for each section that is named; what is in backticks is left alone."""
    out, at = [], 0
    quoted = [match.span() for match in re.finditer(r"```.*?```|`[^`\n]*`", text, re.DOTALL)]
    for start, stop, section, _ in _named(text):
        if any(first <= start < last for first, last in quoted):
            continue
        out += [text[at:start], f"[{text[start:stop]}]({PAGE}#{section})"]
        at = stop
    return "".join((*out, text[at:]))


def places(text: str) -> str:
    """Where the sections that a text names are: `docs/wire-notes.md#2.1, #9`; empty if it names none."""
    named = sections(text)
    return f"docs/{PAGE}#{', #'.join(named)}" if named else ""


def _named(text: str) -> Iterator[tuple[int, int, str, list[str]]]:
    """(start, stop, section, entries) of each section that is named; the first one includes the word in front.

    Behind `no.` plain numbers are further entries: `notes 9 no. 20, 21 and 13 no. 3`.
    """
    for reference in _REFERENCE.finditer(text):
        start, section, numbers, stop = reference.start(), "", list[str](), 0
        for item in re.finditer(_ITEM, reference[1]):
            number, _, entry = item[0].partition(" no. ")
            begin = reference.start(1) + item.start()
            if numbers and item[0].isdecimal():
                numbers.append(number)
            else:
                if section:
                    yield start, stop, section, numbers
                    start = begin
                section, numbers = number.split()[0], [entry] if entry.isdecimal() else []
            stop = begin + len(item[0])
        yield start, stop, section, numbers
