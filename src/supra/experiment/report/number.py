"""Numbers as a report writes them."""


def percent(value: float) -> str:
    """Three digits: 0.0123 is 1.23 %."""
    return f"{number(100 * value)} %"


def number(value: float) -> str:
    """Three digits, and all those of a large number: 1,234."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:#.3g}".rstrip(".")


def duration(seconds: float) -> str:
    """In the unit that a reader would choose."""
    for size, unit in ((3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms")):
        if seconds >= size:
            return f"{number(seconds / size)} {unit}"
    return f"{number(seconds * 1e6)} µs"
