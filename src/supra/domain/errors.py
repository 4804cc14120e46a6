"""What can be wrong with a domain, by name."""


class DomainError(ValueError):
    """A domain cannot be used as it is; the message says what came and the way out."""


class MeshError(DomainError):
    """A mesh is broken: bad coordinates, bad cells, or a file that cannot be read."""


class MeshWarning(UserWarning):
    """A mesh is usable, but has a property its owner may not expect."""


class OutsideWarning(UserWarning):
    """Some points that a function was asked for at lie outside of its domain."""
