"""What is said where Spark isn't installed, or is asked for wrongly."""

import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli

from zdissect.spark import spark_session


def test_without_pyspark(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(spark_session, "missing", lambda: ["pyspark"])
    done = CliRunner().invoke(
        cli, ["batch", str(tmp_path), "-o", str(tmp_path / "o"), "--spark"], standalone_mode=False
    )
    assert done.return_value == 2
    assert done.stderr.strip() == "zdissect: --spark needs pyspark, pyarrow and pandas: pip install 'zdissect[spark]'"


@pytest.mark.parametrize("given", [["--master", "local"], ["--spark", "--conf", "nonsense"], ["--partitions", "2"]])
def test_wrong_options(tmp_path, given):
    pytest.importorskip("pyarrow")
    done = CliRunner().invoke(cli, ["batch", str(tmp_path), "-o", str(tmp_path / "o"), *given])
    assert done.exit_code == 2
    assert not (tmp_path / "o").exists()
