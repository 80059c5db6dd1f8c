"""Questions about IR."""
