// RUN: ipu-opt %s --mlir-print-local-scope --mlir-print-debuginfo | filecheck %s --check-prefix=LOCAL
// LOCAL-NOT: #m
// LOCAL: func.func @aliases(%arg0: tensor<4xf32, #ipu.mapping<4 : i64, {{.*}}>> loc("in")
// LOCAL: affine_map<(d0) -> (d0 + 1)>
// LOCAL-NOT: #loc

// RUN: ipu-opt %s --mlir-use-nameloc-as-prefix | filecheck %s --check-prefix=NAMES
// NAMES: #m0 = #ipu.mapping
// NAMES: #map = affine_map
// NAMES: func.func @aliases(%in: tensor<4xf32, #m0>
// NAMES: %next = affine.apply

// RUN: ipu-opt %s --verify-roundtrip | filecheck %s --check-prefix=NAMES-NOT-ASKED
// NAMES-NOT-ASKED: func.func @aliases(%arg0:
func.func @aliases(%x: tensor<4xf32, #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>> loc("in"), %i: index) -> index {
  %n = affine.apply affine_map<(i) -> (i + 1)>(%i) loc("next")
  return %n : index
}
