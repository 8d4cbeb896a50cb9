"""The forms of a verdict for programs, by name and by the ending of a file."""

from zdissect.conformance.junit import junit
from zdissect.conformance.markdown import markdown
from zdissect.conformance.sarif import sarif
from zdissect.conformance.terms import VerdictTerms
from zdissect.listing.listing import Entry
from zdissect.output.printable import dumps

FORMS = ("json", "sarif", "junit", "markdown")
ENDINGS = {".json": "json", ".sarif": "sarif", ".xml": "junit", ".md": "markdown"}
"""Forms by the endings of files."""


def in_form(form: str, report: Entry, terms: VerdictTerms, exit_code: int) -> str:
    """The verdict as text of a form."""
    if form == "sarif":
        return f"{dumps(sarif(report, exit_code), indented=True)}\n"
    if form == "junit":
        return junit(report, terms)
    return markdown(report) if form == "markdown" else f"{dumps(report, indented=True)}\n"
