"""Specification in, files of generated/ out: the products, what they share, and the exchange of the folder."""
