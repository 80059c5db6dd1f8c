// RUN: ipu-opt %s --ipu-set-target | filecheck %s --check-prefix=STAYS
// RUN: ipu-opt %s --ipu-set-target=tiles=16 | filecheck %s --check-prefix=REPLACED

// STAYS: #ipu.target<{tiles_per_ipu = 4}>
// REPLACED-NOT: small
// REPLACED: tiles_per_ipu = 16
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {}
