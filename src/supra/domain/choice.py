"""Options that are one of a few words, or a whole number: checked with one message each."""

from collections.abc import Iterable
from difflib import get_close_matches
from operator import index
from typing import Any, get_args


def check_choice(name: str, value: object, allowed: Any, error: type[ValueError]) -> None:
    """Raise ``error`` unless ``value`` is among ``allowed``, a Literal or a sequence of words."""
    choices = get_args(allowed) or tuple(allowed)
    if value not in choices:
        words = " or ".join(filter(None, [", ".join(map(repr, choices[:-1])), repr(choices[-1])]))
        raise error(f"`{name}` must be {words}: got {value!r}.{guess(value, choices)}")


def guess(value: object, choices: Iterable[object], cutoff: float = 0.6) -> str:
    """A sentence with the choice that was probably meant, or nothing."""
    close = get_close_matches(str(value), [str(choice) for choice in choices], 1, cutoff)
    return f" Did you mean {close[0]!r}?" if close else ""


def whole_numbers(name: str, values: Any, error: type[ValueError]) -> tuple[int, ...]:
    """One or several whole numbers, of any integer type, as a tuple of ints."""
    try:
        return (index(values),)
    except TypeError:
        pass
    try:
        return tuple(index(value) for value in values)
    except TypeError:
        raise error(f"`{name}` takes whole numbers: got {values!r}.") from None
