"""The targets by name: known without importing what is fuzzed, which atheris has to do itself."""

NAMES = (
    "interpreter", "walker", "blocks", "readers", "links", "tcp", "websocket", "session", "paste", "filters",
    "commands", "contents",
)  # fmt: skip
