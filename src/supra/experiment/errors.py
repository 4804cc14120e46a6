"""What goes wrong with an experiment."""


class ConfigError(ValueError):
    """A preset, a file or a field that does not exist, or a value that is not allowed."""
