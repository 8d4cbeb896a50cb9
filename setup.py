"""Which packages there are: all of them, so that none can be forgotten. Everything else is in pyproject.toml."""

from setuptools import find_packages, setup

library = find_packages(include=["zdissect", "zdissect.*", "pyspark_zenoh"])
command_line = ["zdissect_cli", *(f"zdissect_cli.{name}" for name in find_packages("cli"))]

setup(packages=library + command_line)
