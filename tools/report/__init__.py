"""The page of ``ipu-report``: reading profiles, saying what they mean, and putting the page together."""
