"""Options that are one of a few words, or a whole number: checked with one message each."""

from operator import index
from typing import Any, get_args


def check_choice(name: str, value: object, allowed: Any, error: type[ValueError]) -> None:
    """Raise ``error`` unless ``value`` is among those of the Literal ``allowed``."""
    choices = get_args(allowed)
    if value not in choices:
        words = ", ".join(map(repr, choices[:-1])) + f" or {choices[-1]!r}"
        raise error(f"`{name}` must be {words}: got {value!r}.")


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
