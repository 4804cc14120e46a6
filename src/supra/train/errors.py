"""What goes wrong in training, or with what training left behind."""


class TrainError(ValueError):
    """A run that diverged, or a run folder or checkpoint that cannot be used."""
