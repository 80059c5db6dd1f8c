"""Programs with sizes that depend on data, up to a bound."""
