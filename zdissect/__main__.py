"""`python -m zdissect`: the same as the script `zdissect`. The command line is a package beside this one."""

from runpy import run_module

run_module("zdissect_cli", run_name="__main__", alter_sys=True)
