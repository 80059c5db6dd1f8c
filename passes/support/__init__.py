"""What passes of several phases share."""
