"""The products: a module or folder for each, whose `emit` makes its files (../registry.py)."""
