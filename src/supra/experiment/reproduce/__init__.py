"""The paper's tables, measured here, beside the paper's numbers."""
