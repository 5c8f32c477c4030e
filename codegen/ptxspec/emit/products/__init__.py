"""The products, which register themselves (../product.py)."""
