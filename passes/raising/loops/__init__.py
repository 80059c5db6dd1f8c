"""Loops over elements become structured ops."""
