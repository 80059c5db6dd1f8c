"""The pass manager: what a pass is, pipelines in text, options, instruments."""
