"""What can be wrong with a basis, by name."""


class BasisError(ValueError):
    """A basis cannot be made or used as asked; the message says why and the way out."""


class BasisWarning(UserWarning):
    """A basis was made, but not quite as asked: the message says what was changed."""
