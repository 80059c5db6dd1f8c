"""What rules of several frameworks are made of: convolutions, windows, and samples between elements."""
