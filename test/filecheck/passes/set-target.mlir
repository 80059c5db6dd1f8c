// RUN: ipu-opt %s --ipu-set-target | filecheck %s --check-prefix=DEFAULT
// RUN: ipu-opt %s --ipu-set-target='tiles=16 ipus=2' | filecheck %s --check-prefix=ASKED

// DEFAULT: #[[T:t[0-9]+]] = #ipu.target<{
// DEFAULT-SAME: ipus = 1,
// DEFAULT-SAME: name = "ipu2"
// DEFAULT-SAME: tiles_per_ipu = 1472
// DEFAULT: module attributes {ipu.target = #[[T]]}

// ASKED: #[[T:t[0-9]+]] = #ipu.target<{
// ASKED-SAME: ipus = 2,
// ASKED-SAME: name = "custom"
// ASKED-SAME: tiles_per_ipu = 16
// ASKED: module attributes {ipu.target = #[[T]]}
module {}
