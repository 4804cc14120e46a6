"""The community's public data sets: reading and writing their files."""
