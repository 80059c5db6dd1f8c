// RUN: ipu-opt %s --ipu-set-target | filecheck %s --check-prefix=DEFAULT
// RUN: ipu-opt %s --ipu-set-target='tiles=16 ipus=2 selection-order=snake' | filecheck %s --check-prefix=ASKED
// RUN: ipu-opt %s --ipu-set-target='chip=ipu1 ipus=4' | filecheck %s --check-prefix=CHIP

// CHIP: bytes_per_tile = 262144, clock_hz = 1.600000e+09
// CHIP-SAME: ipus = 4,
// CHIP-SAME: name = "ipu1"
// CHIP-SAME: tiles_per_ipu = 1216

// DEFAULT: #[[T:t[0-9]+]] = #ipu.target<{
// DEFAULT-SAME: ipus = 1,
// DEFAULT-SAME: name = "ipu2"
// DEFAULT-SAME: tiles_per_ipu = 1472
// DEFAULT: module attributes {ipu.target = #[[T]]}

// ASKED: #[[T:t[0-9]+]] = #ipu.target<{
// ASKED-SAME: ipus = 2,
// ASKED-SAME: name = "ipu2"
// ASKED-SAME: selection_order = "snake"
// ASKED-SAME: tiles_per_ipu = 16
// ASKED: module attributes {ipu.target = #[[T]]}
module {}
