"""Makes pyarrow do without pandas."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import pyarrow as pa


class _Refusing(MetaPathFinder):
    """Says that pandas isn't installed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == "pandas":
            raise ImportError(name)
        return None


def without_pandas() -> None:
    """Makes pyarrow do without pandas, for the rest of a process that has no use for it.

    At the first list that becomes an array, pyarrow imports pandas, if it is there, to see whether the list is one of
    its series: a third of the time that it takes to convert a small capture. `to_pandas` imports it nevertheless.
    """
    if "pandas" in sys.modules:
        return
    refusing = _Refusing()
    sys.meta_path.insert(0, refusing)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(refusing)
