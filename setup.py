"""What is installed. Packages are found here, so that none can be forgotten; everything else is in pyproject.toml."""

from setuptools import (
    Distribution,
    find_packages,
    setup,
)  # first: where Python has no distutils any more, it brings them

from distutils.command.install_data import install_data  # isort: skip

library = find_packages(include=["zdissect", "zdissect.*"])
command_line = ["zdissect_cli", *(f"zdissect_cli.{name}" for name in find_packages("cli"))]


class Beside(install_data):
    """Installs `data_files` where the packages are.

    Spark looks for data sources in the list of all top-level modules. That has no modules of an editable installation,
    as these are there only when they are asked for by name; so the file itself has to be there.
    """

    def finalize_options(self) -> None:
        """Takes over the directory of the packages."""
        self.set_undefined_options("install", ("install_lib", "install_dir"))
        super().finalize_options()


class Project(Distribution):
    """The project, with the name under which editable installations ask for `has_data_files`."""

    def has_data(self) -> bool:
        """Whether there are `data_files`."""
        return bool(self.has_data_files())


setup(
    packages=library + command_line,
    data_files=[("", ["zdissect/spark/pyspark_zenoh.py"])],
    distclass=Project,
    cmdclass={"install_data": Beside},
)
