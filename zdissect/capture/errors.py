"""The one error of this layer."""


class CaptureError(Exception):
    """A capture that cannot be read, or not to its end.

    `path` is the name as it was given (`-` for standard input). `message` says what is wrong, where (record and byte
    offset) and what to do about it. The text of the exception is both.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(path, message)  # both, so that it can be pickled on its way from another process
        self.path = path
        self.message = message

    def __str__(self) -> str:
        return f"{'standard input' if self.path == '-' else self.path}: {self.message}"
