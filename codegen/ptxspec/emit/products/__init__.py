"""The products, which register themselves (../registry.py)."""
