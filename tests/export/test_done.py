"""The results of tasks as text, on their way from another machine."""

from tests.export.tables import SAMPLES
from zdissect.export.conversion_settings import Settings
from zdissect.export.inputs import find, plan
from zdissect.export.work import Done, convert, convert_group, look
from zdissect.parallel.split import Split


def test_results_are_the_same_as_text(tmp_path):
    """Of captures, of a first look, of a group; with files that have something wrong, and times beyond 64 bits."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "cut.pcap").write_bytes((SAMPLES / "gossip.pcap").read_bytes()[:-7])
    (tmp_path / "in" / "none.pcap").write_text("no capture")
    works = plan(find(str(SAMPLES)) + find(str(tmp_path / "in")))
    whole = convert(works, str(tmp_path / "1"), Settings())
    whole.files[0].first_ns = 1 << 80
    assert {part.table for part in whole.parts} == {"captures", "findings", "messages", "sessions"}
    assert {file_stats.status for file_stats in whole.files} == {"ok", "cut", "unreadable"}
    (one,) = [work for work in works if work.inputs[0].name == "gossip.pcap"]
    seen = look(one, Settings(), 2)
    group = convert_group(one, Split.load(seen.split), 1, str(tmp_path / "2"), Settings(), lambda *_: None)
    for done in (whole, seen, group):
        again = Done.load(done.json())
        assert again.json() == done.json()
        assert [one.state() for one in again.files] == [one.state() for one in done.files]
        assert (again.rows, again.codes) == (done.rows, done.codes)
        assert (again.accounting, again.split, again.parts) == (done.accounting, done.split, done.parts)
    assert group.group is not None
    found = Done.load(group.json()).group
    assert found is not None
    assert found.group.sound
    assert found.rows == group.group.rows
