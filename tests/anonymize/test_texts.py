"""Key expressions and other texts."""

from hypothesis import given
from hypothesis import strategies as st

from zdissect.anonymize.addresses import Addresses
from zdissect.anonymize.locators import locator
from zdissect.anonymize.secret import Secret
from zdissect.anonymize.texts import Texts
from zdissect.session.keyexprs import check, includes, intersects

SECRET = Secret("seed")
ADDRESSES = Addresses(SECRET)
TEXTS = Texts(SECRET, ADDRESSES.zid_text)
KEYS = st.lists(st.sampled_from(["a", "ab", "abc", "b1", "é", "日本", "😀", "*", "**", "@v", "$*x", "a$*"]), min_size=1)


def test_a_key_keeps_its_form():
    new = TEXTS.key("robot/Arm-2/**/joint_3/$*x/é日😀")
    chunks = new.split("/")
    assert [len(chunk) for chunk in chunks] == [5, 5, 2, 7, 3, 3]
    assert (chunks[1][3], chunks[2], chunks[3][5], chunks[4][:2]) == ("-", "**", "_", "$*")
    assert not {*"robot"} & {new[0]}
    assert len(new.encode()) == len("robot/Arm-2/**/joint_3/$*x/é日😀".encode())


@given(KEYS.map("/".join))
def test_no_character_but_punctuation_stays(key):
    new = TEXTS.key(key)
    assert len(new.encode()) == len(key.encode())
    assert check(new) == check(key)
    assert all(a != b for a, b in zip(key, new, strict=True) if a.isalnum() or ord(a) > 127)


@given(KEYS.map("/".join), st.integers(0, 40))
def test_a_key_in_two_parts_gives_what_it_does_in_one(key, cut):
    whole = TEXTS.key(key)
    assert whole[: len(key[:cut])] + TEXTS.suffix(key, key[cut:]) == whole
    assert TEXTS.key(key[:cut]) == whole[:cut]


@given(KEYS.map("/".join), KEYS.map("/".join))
def test_relations_stay(left, right):
    new = TEXTS.key(left), TEXTS.key(right)
    assert (new[0] == new[1]) == (left == right)
    if "$" not in left + right:
        assert intersects(*new) == intersects(left, right)
        assert includes(*new) == includes(left, right)


def test_chunks_of_zenoh_stay_beside_a_verbatim_chunk():
    zid = "a8c0f35a4e1b4d0c9f3e2d1c0b1a2938"
    new = TEXTS.key(f"@/{zid}/router/session/x")
    assert new.startswith("@/")
    assert new.split("/")[1] == ADDRESSES.zid_text(zid) != zid
    assert new.split("/")[2:4] == ["router", "session"]
    assert TEXTS.key("router/session").split("/")[0] != "router"


def test_parameters_of_zenoh_keep_their_names():
    new = TEXTS.parameters("_time=[now(-1h)..];name=max;_anyke")
    assert new.startswith("_time=[")
    assert new.endswith(";_anyke")
    assert "name" not in new
    assert "max" not in new


def test_bytes_that_are_no_utf8_stay_such():
    text = b"abc\xc3(".decode(errors="surrogateescape")
    new = TEXTS.key(text).encode(errors="surrogateescape")
    assert len(new) == 5
    assert new[3:] == b"\xff("


def test_locators():
    for text in (
        "tcp/192.0.2.17:7447?rel=1;x=abc",
        "udp/[2001:db8::17]:7447",
        "tcp/robot.example:7447",
        "ws/[fe80::1%eth0]:1",
    ):
        new = locator(text, ADDRESSES, TEXTS)
        assert len(new) == len(text)
        assert new.partition("/")[0] == text.partition("/")[0]
        assert new.partition("?")[0].rpartition(":")[2] == text.partition("?")[0].rpartition(":")[2]
        assert new != text
    assert locator("tcp/127.0.0.1:7447", ADDRESSES, TEXTS) == "tcp/127.0.0.1:7447"
    new = locator("tcp/192.0.2.17:7447?rel=1;x=abc", ADDRESSES, TEXTS)
    assert new.startswith("tcp/" + ".".join(map(str, ADDRESSES.ip(bytes([192, 0, 2, 17])))))
    assert "?rel=1;x=" in new
