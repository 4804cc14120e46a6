"""``python -m supra``."""

from supra.cli import main

main()
