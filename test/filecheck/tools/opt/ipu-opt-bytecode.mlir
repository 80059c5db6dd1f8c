// RUN: ipu-opt %s --emit-bytecode -o %t.mlirbc
// RUN: ipu-opt %t.mlirbc | filecheck %s
// RUN: ipu-opt %s --emit-bytecode | ipu-opt --mlir-print-debuginfo | filecheck %s --check-prefix=LOCATIONS
// RUN: head -c 100 %t.mlirbc > %t.cut
// RUN: not ipu-opt %t.cut 2>&1 | filecheck %s --check-prefix=CUT

// CHECK: #m0 = #ipu.mapping<4, {{.*}}, 0, 0>
// CHECK: func.func @f(%{{.*}}: memref<4xf32, #m0>)
// LOCATIONS: return loc(#[[LOC:.*]])
// LOCATIONS: #[[LOC]] = loc("{{.*}}ipu-opt-bytecode.mlir":14:3)
// CUT: .cut: error: {{.*}}bytes when only
func.func @f(%a: memref<4xf32, #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>>) {

  return
}
