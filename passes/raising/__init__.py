"""What is written as loops or bodies and is one operation."""
