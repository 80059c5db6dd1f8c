"""Modules that know nothing of IPUs: bindings, diagnostics, text."""
