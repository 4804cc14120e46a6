"""Our own self-describing HDF5 files."""
