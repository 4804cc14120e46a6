"""What goes wrong with a problem's options or in its solver."""


class ProblemError(ValueError):
    """Options that no problem has, or a solve that did not succeed."""
