"""Users' own files, one case each."""
