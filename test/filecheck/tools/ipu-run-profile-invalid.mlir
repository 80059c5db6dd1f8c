// RUN: not ipu-run %s --profile %t.json 2>&1 | filecheck %s
// RUN: filecheck %s --input-file %t.json --check-prefix=JSON
// RUN: not ipu-run %s --profile /no/such/folder/out.json 2>&1 | filecheck %s --check-prefix=UNWRITABLE

// CHECK: profile of the program that does not fit: {{.*}}.json
// CHECK: ipu-run-profile-invalid.mlir:{{[0-9]+}}:{{[0-9]+}}: error: {{.*}} B too much

// JSON: "schema":"ipu-mlir.profile"
// JSON-SAME: "fits":false,"problems":[{"kind":"{{tiles|one_tile|code}}"
// JSON-SAME: "measured":false

// UNWRITABLE: ipu-run: error: cannot write /no/such/folder/out.json: No such file or directory
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 2, bytes_per_tile = 4096}>} {
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %y = linalg.tanh ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}}
