"""Random sequences of calls get the same answers from both backends, and leave the same behind."""

from __future__ import annotations

import pytest
from hypothesis import given

from parity.conftest import examples
from parity.operations import Call, call_sequences, inventory
from parity.twins import Twins


@pytest.mark.slow
@examples(50)
@given(calls=call_sequences)
async def test_both_backends_give_the_same_answers(pair: Twins, calls: list[Call]) -> None:
    pair.wipe()
    for call in [*calls, *inventory()]:
        await pair.call(call.caller, call.tool, call.arguments)
