"""StableHLO as it comes in -> linalg on tensors: what upstream's ``stablehlo-legalize-to-linalg`` leaves behind."""
