// RUN: ipu-opt %s --ipu-infer-sizes | filecheck %s

// A size that is computed without a cast or a reshape anywhere.
// CHECK-LABEL: func.func @crop
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[5, 0] [10, 3] [1, 1]
// CHECK-NEXT: return %[[S]]
func.func @crop(%x: tensor<20x3xf32>) -> tensor<10x3xf32> {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : i64
  %twenty = arith.constant 20 : i64
  %wanted = arith.constant dense<10> : tensor<1xi64>
  %number = tensor.empty() : tensor<1xi64>
  %same = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%wanted : tensor<1xi64>) outs(%number : tensor<1xi64>) {
  ^bb0(%in: i64, %out: i64):
    linalg.yield %in : i64
  } -> tensor<1xi64>
  %n = tensor.extract %same[%zero] : tensor<1xi64>
  %rest = arith.subi %twenty, %n : i64
  %half = arith.divsi %rest, %two : i64
  %begin = arith.index_cast %half : i64 to index
  %size = arith.index_cast %n : i64 to index
  %slice = tensor.extract_slice %x[%begin, 0] [%size, 3] [1, 1] : tensor<20x3xf32> to tensor<?x3xf32>
  %r = tensor.extract_slice %slice[0, 0] [10, 3] [1, 1] : tensor<?x3xf32> to tensor<10x3xf32>
  return %r : tensor<10x3xf32>
}
