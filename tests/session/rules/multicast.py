"""Rules of multicast members and of scouting (notes 9 no. 30 to 32)."""

from tests.members import Members, scouting
from tests.say import push
from tests.session.cases import NOTE, WARNING, case
from tests.wire import Parties, Wire

ASKS = {"message": "SCOUT", "version": 9, "what": 3}
ANSWERS = {"message": "HELLO", "version": 9, "whatami": 0, "zid": b"\x02\xbb", "locators": ["tcp/10.0.0.2:7447"]}
GROUP = Parties(("10.0.0.1", "224.0.0.224"), (50000, 7446))
BACK = Parties(("10.0.0.1", "10.0.0.2"), (50000, 60000))
SIZE = {"rid": 2, "fsn": 2}


@case("join-changed", WARNING, "JOIN", "join.header")
def a_member_comes_back_as_another(fault: bool) -> Members:
    return Members().join(0).join(0, zid=b"\x09\x09" if fault else None)


@case("join-changed", WARNING, "JOIN", "join.header")
def a_member_changes_its_lease(fault: bool) -> Members:
    return Members().join(0).join(0, lease=20 if fault else 10)


@case("join-differs", WARNING, "JOIN", "join.header")
def two_members_with_different_batch_sizes(fault: bool) -> Members:
    return Members().join(0).join(1, batch_size=4096 if fault else 8192, **SIZE)


@case("join-late", WARNING, "JOIN", "join.header")
def joins_further_apart_than_the_lease(fault: bool) -> Members:
    return Members().join(0).wait(11 if fault else 3).join(0)


@case("join-late", WARNING, "JOIN", "join.header")
def a_member_speaks_but_doesnt_join(fault: bool) -> Members:
    """Data keeps it alive, but newcomers don't learn of it."""
    members = Members().join(0)
    for sn in range(100, 104):
        members.wait(3).say(0, {"message": "FRAME", "R": 1, "sn": sn, "messages": [push()]})
        if not fault:
            members.join(0, sn=sn + 1)
    return members.join(0, sn=104)


@case("lease-exceeded", WARNING, "FRAME", "frame.header")
def a_member_was_silent_for_longer_than_its_lease(fault: bool) -> Members:
    frame = {"message": "FRAME", "R": 1, "sn": 100, "messages": [push()]}
    return Members().join(0).wait(11 if fault else 3).say(0, frame)


@case("sn-first", WARNING, "FRAME", "frame.sn")
def a_member_starts_elsewhere_than_its_join_says(fault: bool) -> Members:
    frame = {"message": "FRAME", "R": 1, "sn": 100 + fault, "messages": [push()]}
    return Members().join(0, sn=100).say(0, frame)


@case("hello-unasked", NOTE, "HELLO", "hello.header")
def a_hello_that_nobody_asked_for(fault: bool) -> Wire:
    wire = Wire()
    if not fault:
        scouting(GROUP, 0, wire, **ASKS)
    scouting(BACK, 1, wire, **ANSWERS)
    return wire


@case("hello-role", NOTE, "HELLO", "hello.packed")
def a_router_answers_who_looks_for_peers(fault: bool) -> Wire:
    wire = Wire()
    scouting(GROUP, 0, wire, **{**ASKS, "what": 2 if fault else 3})
    scouting(BACK, 1, wire, **ANSWERS)
    return wire


@case("hello-no-locators", NOTE, "HELLO", "hello.header")
def a_hello_that_doesnt_say_where(fault: bool) -> Wire:
    wire = Wire()
    scouting(GROUP, 0, wire, **ASKS)
    scouting(BACK, 1, wire, **{name: value for name, value in ANSWERS.items() if name != "locators" or not fault})
    return wire
