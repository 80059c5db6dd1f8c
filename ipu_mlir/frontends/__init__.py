"""Programs of other frameworks: each front end is a module that is imported when it is used."""
