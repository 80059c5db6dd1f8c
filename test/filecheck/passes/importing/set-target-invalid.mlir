// RUN: ipu-opt %s --ipu-set-target=tiles=0 --verify-diagnostics
// RUN: not ipu-opt %s --ipu-set-target=tiles=many

// expected-error @unknown {{a target needs tiles_per_ipu >= 1, got 0}}
module {}
