// A network of 64 - 96 - 10 units for 8 x 8 images of digits: one training step, and the scores that it gives.
//
// @main:    one step of gradient descent on 32 images; gives the loss and the new weights.
// @predict: the scores of the ten classes for 32 images.

#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#matrix = affine_map<(d0, d1) -> (d0, d1)>
#scalar = affine_map<(d0, d1) -> ()>
#x = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// contractions: (m, n, k)
#m_n = affine_map<(m, n, k) -> (m, n)>
#m_k = affine_map<(m, n, k) -> (m, k)>
#k_m = affine_map<(m, n, k) -> (k, m)>
#k_n = affine_map<(m, n, k) -> (k, n)>
#n_k = affine_map<(m, n, k) -> (n, k)>

module {
  func.func @main(%images: tensor<32x64xf32>, %labels: tensor<32xi32>, %rate: tensor<f32>,
                  %w1: tensor<64x96xf32>, %b1: tensor<96xf32>, %w2: tensor<96x10xf32>, %b2: tensor<10xf32>)
      -> (tensor<f32>, tensor<64x96xf32>, tensor<96xf32>, tensor<96x10xf32>, tensor<10xf32>) {
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    %share = arith.constant 0.03125 : f32

    // forward: h = relu(x w1 + b1), z = h w2 + b2
    %eh = tensor.empty() : tensor<32x96xf32>
    %ez = tensor.empty() : tensor<32x10xf32>
    %er = tensor.empty() : tensor<32xf32>
    %h0 = linalg.fill ins(%zero : f32) outs(%eh : tensor<32x96xf32>) -> tensor<32x96xf32>
    %xw = linalg.matmul ins(%images, %w1 : tensor<32x64xf32>, tensor<64x96xf32>)
        outs(%h0 : tensor<32x96xf32>) -> tensor<32x96xf32>
    %h = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%xw, %b1 : tensor<32x96xf32>, tensor<96xf32>) outs(%eh : tensor<32x96xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      %r = arith.maximumf %s, %zero : f32
      linalg.yield %r : f32
    } -> tensor<32x96xf32>
    %z0 = linalg.fill ins(%zero : f32) outs(%ez : tensor<32x10xf32>) -> tensor<32x10xf32>
    %hw = linalg.matmul ins(%h, %w2 : tensor<32x96xf32>, tensor<96x10xf32>)
        outs(%z0 : tensor<32x10xf32>) -> tensor<32x10xf32>
    %z = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%hw, %b2 : tensor<32x10xf32>, tensor<10xf32>) outs(%ez : tensor<32x10xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<32x10xf32>

    // log softmax and the mean loss of the right classes
    %m0 = linalg.fill ins(%lowest : f32) outs(%er : tensor<32xf32>) -> tensor<32xf32>
    %most = linalg.generic {indexing_maps = [#matrix, #row], iterator_types = ["parallel", "reduction"]}
        ins(%z : tensor<32x10xf32>) outs(%m0 : tensor<32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.maximumf %o, %a : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%er : tensor<32xf32>) -> tensor<32xf32>
    %sum = linalg.generic {indexing_maps = [#matrix, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%z, %most : tensor<32x10xf32>, tensor<32xf32>) outs(%s0 : tensor<32xf32>) {
    ^bb0(%a: f32, %most_of_row: f32, %o: f32):
      %d = arith.subf %a, %most_of_row : f32
      %e = math.exp %d : f32
      %s = arith.addf %o, %e : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    %logp = linalg.generic {indexing_maps = [#matrix, #row, #row, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%z, %most, %sum : tensor<32x10xf32>, tensor<32xf32>, tensor<32xf32>) outs(%ez : tensor<32x10xf32>) {
    ^bb0(%a: f32, %most_of_row: f32, %sum_of_row: f32, %o: f32):
      %d = arith.subf %a, %most_of_row : f32
      %l = math.log %sum_of_row : f32
      %s = arith.subf %d, %l : f32
      linalg.yield %s : f32
    } -> tensor<32x10xf32>
    %truth = linalg.generic {indexing_maps = [#row, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%labels : tensor<32xi32>) outs(%ez : tensor<32x10xf32>) {
    ^bb0(%label: i32, %o: f32):
      %class = linalg.index 1 : index
      %class_i32 = arith.index_cast %class : index to i32
      %same = arith.cmpi eq, %label, %class_i32 : i32
      %one_or_zero = arith.uitofp %same : i1 to f32
      linalg.yield %one_or_zero : f32
    } -> tensor<32x10xf32>
    %el = tensor.empty() : tensor<f32>
    %l0 = linalg.fill ins(%zero : f32) outs(%el : tensor<f32>) -> tensor<f32>
    %loss = linalg.generic {indexing_maps = [#matrix, #matrix, #scalar], iterator_types = ["reduction", "reduction"]}
        ins(%logp, %truth : tensor<32x10xf32>, tensor<32x10xf32>) outs(%l0 : tensor<f32>) {
    ^bb0(%a: f32, %t: f32, %o: f32):
      %p = arith.mulf %a, %t : f32
      %n = arith.mulf %p, %share : f32
      %s = arith.subf %o, %n : f32
      linalg.yield %s : f32
    } -> tensor<f32>

    // backward
    %dz = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%logp, %truth : tensor<32x10xf32>, tensor<32x10xf32>) outs(%ez : tensor<32x10xf32>) {
    ^bb0(%a: f32, %t: f32, %o: f32):
      %p = math.exp %a : f32
      %d = arith.subf %p, %t : f32
      %s = arith.mulf %d, %share : f32
      linalg.yield %s : f32
    } -> tensor<32x10xf32>
    %ew2 = tensor.empty() : tensor<96x10xf32>
    %dw20 = linalg.fill ins(%zero : f32) outs(%ew2 : tensor<96x10xf32>) -> tensor<96x10xf32>
    %dw2 = linalg.matmul indexing_maps = [#k_m, #k_n, #m_n]
        ins(%h, %dz : tensor<32x96xf32>, tensor<32x10xf32>) outs(%dw20 : tensor<96x10xf32>) -> tensor<96x10xf32>
    %db2 = func.call @sum_of_rows_10(%dz) : (tensor<32x10xf32>) -> tensor<10xf32>
    %dh0 = linalg.fill ins(%zero : f32) outs(%eh : tensor<32x96xf32>) -> tensor<32x96xf32>
    %dhr = linalg.matmul indexing_maps = [#m_k, #n_k, #m_n]
        ins(%dz, %w2 : tensor<32x10xf32>, tensor<96x10xf32>) outs(%dh0 : tensor<32x96xf32>) -> tensor<32x96xf32>
    %dh = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%h, %dhr : tensor<32x96xf32>, tensor<32x96xf32>) outs(%eh : tensor<32x96xf32>) {
    ^bb0(%a: f32, %d: f32, %o: f32):
      %on = arith.cmpf ogt, %a, %zero : f32
      %s = arith.select %on, %d, %zero : f32
      linalg.yield %s : f32
    } -> tensor<32x96xf32>
    %ew1 = tensor.empty() : tensor<64x96xf32>
    %dw10 = linalg.fill ins(%zero : f32) outs(%ew1 : tensor<64x96xf32>) -> tensor<64x96xf32>
    %dw1 = linalg.matmul indexing_maps = [#k_m, #k_n, #m_n]
        ins(%images, %dh : tensor<32x64xf32>, tensor<32x96xf32>) outs(%dw10 : tensor<64x96xf32>) -> tensor<64x96xf32>
    %db1 = func.call @sum_of_rows_96(%dh) : (tensor<32x96xf32>) -> tensor<96xf32>

    // new weights: w - rate dw
    %new_w1 = linalg.generic {indexing_maps = [#matrix, #matrix, #scalar, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%w1, %dw1, %rate : tensor<64x96xf32>, tensor<64x96xf32>, tensor<f32>) outs(%ew1 : tensor<64x96xf32>) {
    ^bb0(%w: f32, %d: f32, %r: f32, %o: f32):
      %step = arith.mulf %d, %r : f32
      %s = arith.subf %w, %step : f32
      linalg.yield %s : f32
    } -> tensor<64x96xf32>
    %new_w2 = linalg.generic {indexing_maps = [#matrix, #matrix, #scalar, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%w2, %dw2, %rate : tensor<96x10xf32>, tensor<96x10xf32>, tensor<f32>) outs(%ew2 : tensor<96x10xf32>) {
    ^bb0(%w: f32, %d: f32, %r: f32, %o: f32):
      %step = arith.mulf %d, %r : f32
      %s = arith.subf %w, %step : f32
      linalg.yield %s : f32
    } -> tensor<96x10xf32>
    %eb1 = tensor.empty() : tensor<96xf32>
    %new_b1 = linalg.generic {indexing_maps = [#x, #x, #none, #x], iterator_types = ["parallel"]}
        ins(%b1, %db1, %rate : tensor<96xf32>, tensor<96xf32>, tensor<f32>) outs(%eb1 : tensor<96xf32>) {
    ^bb0(%w: f32, %d: f32, %r: f32, %o: f32):
      %step = arith.mulf %d, %r : f32
      %s = arith.subf %w, %step : f32
      linalg.yield %s : f32
    } -> tensor<96xf32>
    %eb2 = tensor.empty() : tensor<10xf32>
    %new_b2 = linalg.generic {indexing_maps = [#x, #x, #none, #x], iterator_types = ["parallel"]}
        ins(%b2, %db2, %rate : tensor<10xf32>, tensor<10xf32>, tensor<f32>) outs(%eb2 : tensor<10xf32>) {
    ^bb0(%w: f32, %d: f32, %r: f32, %o: f32):
      %step = arith.mulf %d, %r : f32
      %s = arith.subf %w, %step : f32
      linalg.yield %s : f32
    } -> tensor<10xf32>
    return %loss, %new_w1, %new_b1, %new_w2, %new_b2
        : tensor<f32>, tensor<64x96xf32>, tensor<96xf32>, tensor<96x10xf32>, tensor<10xf32>
  }

  func.func private @sum_of_rows_10(%x: tensor<32x10xf32>) -> tensor<10xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<10xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<10xf32>) -> tensor<10xf32>
    %s = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<32x10xf32>) outs(%s0 : tensor<10xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.addf %o, %a : f32
      linalg.yield %t : f32
    } -> tensor<10xf32>
    return %s : tensor<10xf32>
  }

  func.func private @sum_of_rows_96(%x: tensor<32x96xf32>) -> tensor<96xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<96xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<96xf32>) -> tensor<96xf32>
    %s = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<32x96xf32>) outs(%s0 : tensor<96xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.addf %o, %a : f32
      linalg.yield %t : f32
    } -> tensor<96xf32>
    return %s : tensor<96xf32>
  }

  func.func @predict(%images: tensor<32x64xf32>,
                     %w1: tensor<64x96xf32>, %b1: tensor<96xf32>, %w2: tensor<96x10xf32>, %b2: tensor<10xf32>)
      -> tensor<32x10xf32> {
    %zero = arith.constant 0.0 : f32
    %eh = tensor.empty() : tensor<32x96xf32>
    %ez = tensor.empty() : tensor<32x10xf32>
    %h0 = linalg.fill ins(%zero : f32) outs(%eh : tensor<32x96xf32>) -> tensor<32x96xf32>
    %xw = linalg.matmul ins(%images, %w1 : tensor<32x64xf32>, tensor<64x96xf32>)
        outs(%h0 : tensor<32x96xf32>) -> tensor<32x96xf32>
    %h = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%xw, %b1 : tensor<32x96xf32>, tensor<96xf32>) outs(%eh : tensor<32x96xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      %r = arith.maximumf %s, %zero : f32
      linalg.yield %r : f32
    } -> tensor<32x96xf32>
    %z0 = linalg.fill ins(%zero : f32) outs(%ez : tensor<32x10xf32>) -> tensor<32x10xf32>
    %hw = linalg.matmul ins(%h, %w2 : tensor<32x96xf32>, tensor<96x10xf32>)
        outs(%z0 : tensor<32x10xf32>) -> tensor<32x10xf32>
    %z = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%hw, %b2 : tensor<32x10xf32>, tensor<10xf32>) outs(%ez : tensor<32x10xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<32x10xf32>
    return %z : tensor<32x10xf32>
  }
}
