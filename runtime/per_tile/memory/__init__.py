"""What each tile holds."""
