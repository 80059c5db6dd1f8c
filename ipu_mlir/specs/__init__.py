"""Shapes and element types as users write them."""
