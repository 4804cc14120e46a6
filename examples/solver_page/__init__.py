"""What examples/solvers.py draws and measures, one module per problem."""
