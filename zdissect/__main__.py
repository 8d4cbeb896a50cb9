"""`python -m zdissect`: the same as the script `zdissect`. The command line is a package beside this one."""

from runpy import run_module

if __name__ == "__main__":
    run_module("zdissect_cli", run_name="__main__", alter_sys=True)
