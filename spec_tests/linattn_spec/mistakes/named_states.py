"""One tensor of a state of several, taken for something else on its way in or out."""

from collections.abc import Callable
from dataclasses import replace

from linattn_spec.mistakes.record import Array, Call, Results, right

Change = Callable[[Array, Call], Array]


def states_of(call: Call) -> dict[str, Array]:
    return {item.name: x for item, x in zip(call.variant.state, call.state, strict=True)}


def with_states(**change: Change) -> Callable[[Call], Results]:
    """Incoming ones: ``name=function(value, call)``. All that are named must be there."""

    def wrong(call: Call) -> Results:
        states = states_of(call)
        states |= {name: function(states[name], call) for name, function in change.items()}
        return right(replace(call, state=tuple(states.values())))

    return wrong


def with_final_states(**change: Change) -> Callable[[Call], Results]:
    """Those that are returned."""

    def wrong(call: Call) -> Results:
        results = right(call)
        return results | {
            f"final_state/{n}": function(results[f"final_state/{n}"], call) for n, function in change.items()
        }

    return wrong
