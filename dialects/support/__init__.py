"""What knows nothing of IPUs: bindings, diagnostics, text."""
