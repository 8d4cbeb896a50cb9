"""Makes `tests.…` importable from anywhere, keeps settings of this machine out, sets how long properties are tried."""

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parents[1]))

os.environ["ZDISSECT_CONFIG"] = ""  # what is set on this machine isn't tested

settings.register_profile(
    "dev", deadline=None, max_examples=300, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True)
settings.register_profile("long", settings.get_profile("dev"), max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))
