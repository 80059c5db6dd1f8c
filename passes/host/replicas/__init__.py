"""An axis for replicas in programs for one memory: what varies between them has it in front."""
