"""Slices and elements at run-time indices become structured ops."""
