"""Training, evaluation and use of a surrogate."""
