"""`python -m zdissect_cli`: the same as the script `zdissect`."""

from .main import main

main()
