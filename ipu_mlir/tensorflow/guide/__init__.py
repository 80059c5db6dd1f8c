"""The names of the guide: those that are there are imported late, those that come later say so."""
