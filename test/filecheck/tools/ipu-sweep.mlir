// RUN: ipu-sweep %s --tiles 2,4 -o %t.json -o %t.csv | filecheck %s
// RUN: filecheck %s --input-file %t.json --check-prefix=JSON
// RUN: filecheck %s --input-file %t.csv --check-prefix=CSV
// RUN: ipu-sweep %s --entry main --chip ipu21 | filecheck %s --check-prefix=CHIP
// RUN: ipu-sweep - --entry @main --ipus 2 --tiles 4 < %s | filecheck %s --check-prefix=STDIN
// STDIN: <stdin>: main on 2 IPUs of the kind ipu2

// CHECK: ipu-sweep.mlir: main on 1 IPU of the kind ipu2
// CHECK: proportion tiles partials cycles compute exchange sync tile bytes time
// CHECK: 0.6 2 none {{[0-9,]+}} {{[0-9,]+}} {{[0-9,]+}} {{[0-9]+}} {{[0-9,]+}} {{[0-9.]+}} {{.s}}
// CHECK: 0.6 4 none
// CHECK: * no other setting has fewer cycles and fewer bytes on the fullest tile
// CHECK: leave out what the host transfers; a tile has 638,976 B
// CHECK: fastest that fits: proportion 0.6,

// JSON: "schema": "ipu-mlir.sweep",
// JSON: "available_memory_proportion": 0.6,
// JSON: "tiles_per_ipu": 2,

// CSV: available_memory_proportion,tiles_per_ipu,most_partials,cycles,compute,exchange,sync,seconds,tile_bytes,bytes_per_tile,worst_tile,fits,frontier
// CSV: 0.6,2,,

// CHIP: main on 1 IPU of the kind ipu21
// CHIP: 0.05 1,472 none
// CHIP: 0.1 1,472 none
// CHIP: 0.6 1,472 none
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %y = linalg.tanh ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
