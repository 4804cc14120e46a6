"""What goes wrong with data."""


class DataError(ValueError):
    """A file, an array or a request for data that is not what it must be."""
