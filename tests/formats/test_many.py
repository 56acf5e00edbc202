"""A JSON array of events, read one by one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import EventRefused
from headwater.formats.openlineage.event import Event
from headwater.formats.openlineage.many import _pieces, read_events
from tests.support.events import run_event

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
SPACE = st.text(" \t\r\n", max_size=3)


@given(st.lists(VALUES, max_size=6), SPACE, st.data())
def test_the_elements_are_split_correctly(values: list[object], space: str, data: st.DataObject) -> None:
    written = [f"{data.draw(SPACE)}{json.dumps(value)}{data.draw(SPACE)}" for value in values]
    text = f"{space}[{','.join(written)}]{space}"
    assert json.loads(text) == values
    assert [json.loads(piece) for piece in _pieces(text)] == values
    assert _pieces(text) == [one.strip(" \t\r\n") for one in written]


@given(st.text('[]{}, 1"a:', max_size=12))
def test_a_body_that_is_not_an_array_is_refused(text: str) -> None:
    """Compared with the JSON parser of Python."""
    try:
        whole = isinstance(json.loads(text), list)
    except ValueError:
        whole = False
    if whole:
        _pieces(text)
    else:
        with pytest.raises(EventRefused):
            read_events(text.encode())


def test_elements_keep_their_bytes_and_order() -> None:
    body = json.dumps([run_event(run="1"), 5, run_event(run="2")], indent=1).encode()
    first, refused, second = read_events(body)
    assert isinstance(first, Event)
    assert isinstance(refused, EventRefused)
    assert isinstance(second, Event)
    assert first.body in body
    assert second.body in body
