"""From configurations and commands to objects, tables and pictures."""
