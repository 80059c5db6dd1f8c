"""Estimators of the guide (21.13): model functions that are trained, evaluated and asked in loops on the device."""
