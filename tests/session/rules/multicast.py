"""Rules of multicast members and of scouting (notes 9 no. 30 to 32)."""

from tests.messages import push
from tests.multicast_group import MulticastGroup, scouting
from tests.packets import CaptureBuilder, Parties
from tests.session.cases import NOTE, WARNING, case

ASKS = {"message": "SCOUT", "version": 9, "what": 3}
ANSWERS = {"message": "HELLO", "version": 9, "whatami": 0, "zid": b"\x02\xbb", "locators": ["tcp/10.0.0.2:7447"]}
GROUP = Parties(("10.0.0.1", "224.0.0.224"), (50000, 7446))
BACK = Parties(("10.0.0.1", "10.0.0.2"), (50000, 60000))
SIZE = {"rid": 2, "fsn": 2}


@case("join-changed", WARNING, "JOIN", "join.header")
def a_member_comes_back_as_another(fault: bool) -> MulticastGroup:
    return MulticastGroup().join(0).join(0, zid=b"\x09\x09" if fault else None)


@case("join-changed", WARNING, "JOIN", "join.header")
def a_member_changes_its_lease(fault: bool) -> MulticastGroup:
    return MulticastGroup().join(0).join(0, lease=20 if fault else 10)


@case("join-differs", WARNING, "JOIN", "join.header")
def two_members_with_different_batch_sizes(fault: bool) -> MulticastGroup:
    return MulticastGroup().join(0).join(1, batch_size=4096 if fault else 8192, **SIZE)


@case("join-late", WARNING, "JOIN", "join.header")
def joins_further_apart_than_the_lease(fault: bool) -> MulticastGroup:
    return MulticastGroup().join(0).wait(11 if fault else 3).join(0)


@case("join-late", WARNING, "JOIN", "join.header")
def a_member_speaks_but_doesnt_join(fault: bool) -> MulticastGroup:
    """Data keeps it alive, but newcomers don't learn of it."""
    group = MulticastGroup().join(0)
    for sn in range(100, 104):
        group.wait(3).send(0, {"message": "FRAME", "R": 1, "sn": sn, "messages": [push()]})
        if not fault:
            group.join(0, sn=sn + 1)
    return group.join(0, sn=104)


@case("lease-exceeded", WARNING, "FRAME", "frame.header")
def a_member_was_silent_for_longer_than_its_lease(fault: bool) -> MulticastGroup:
    frame = {"message": "FRAME", "R": 1, "sn": 100, "messages": [push()]}
    return MulticastGroup().join(0).wait(11 if fault else 3).send(0, frame)


@case("sn-first", WARNING, "FRAME", "frame.sn")
def a_member_starts_elsewhere_than_its_join_says(fault: bool) -> MulticastGroup:
    frame = {"message": "FRAME", "R": 1, "sn": 100 + fault, "messages": [push()]}
    return MulticastGroup().join(0, sn=100).send(0, frame)


@case("hello-unasked", NOTE, "HELLO", "hello.header")
def a_hello_that_nobody_asked_for(fault: bool) -> CaptureBuilder:
    capture = CaptureBuilder()
    if not fault:
        scouting(GROUP, 0, capture, **ASKS)
    scouting(BACK, 1, capture, **ANSWERS)
    return capture


@case("hello-role", NOTE, "HELLO", "hello.packed")
def a_router_answers_who_looks_for_peers(fault: bool) -> CaptureBuilder:
    capture = CaptureBuilder()
    scouting(GROUP, 0, capture, **{**ASKS, "what": 2 if fault else 3})
    scouting(BACK, 1, capture, **ANSWERS)
    return capture


@case("hello-no-locators", NOTE, "HELLO", "hello.header")
def a_hello_that_doesnt_say_where(fault: bool) -> CaptureBuilder:
    capture = CaptureBuilder()
    scouting(GROUP, 0, capture, **ASKS)
    scouting(BACK, 1, capture, **{name: value for name, value in ANSWERS.items() if name != "locators" or not fault})
    return capture
