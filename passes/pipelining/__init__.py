"""Pipelines over several IPUs: stages, their backward code, what is stored between the two, schedules."""
