"""Products with sparse matrices of PyTorch, known or made in the program."""

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
TARGET = ipu.Target(tiles_per_ipu=4)
X = torch.randn(5, 3, generator=torch.manual_seed(0))
EDGES = torch.tensor([[0, 1, 2, 4, 4], [2, 0, 1, 3, 3]])
WEIGHTS = torch.tensor([1.0, -2.0, 0.5, 3.0, 1.0])


def matrix(weights):
    return torch.sparse_coo_tensor(EDGES, weights, (5, 5))


@pytest.mark.parametrize("layout", ("coo", "csr"))
def test_modules_multiply_by_sparse_matrices_that_they_hold(layout):
    class Graph(torch.nn.Module):
        def __init__(self):
            super().__init__()
            known = matrix(WEIGHTS).coalesce()
            self.register_buffer("held", known.to_sparse_csr() if layout == "csr" else known)
            self.layer = torch.nn.Linear(3, 2)

        def forward(self, x):
            y = self.layer(x)
            return torch.sparse.mm(self.held, y), self.held @ y[:, 0], self.held.to_dense() @ y

    graph = Graph()
    torch.testing.assert_close(ipu.compile(graph, args=[X], target=TARGET)(X), graph(X))


def test_elements_of_sparse_matrices_have_gradients():
    def program(weights, x):
        def loss(weights):
            return (torch.sparse.mm(matrix(weights), x) + matrix(weights).t() @ x).square().sum()

        return torch.func.grad(loss)(weights), torch.spmm(matrix(weights), x)

    def dense(weights):
        return torch.zeros(5, 5).index_put(tuple(EDGES), weights, accumulate=True)

    expected = torch.func.grad(lambda weights: (dense(weights) @ X + dense(weights).t() @ X).square().sum())(WEIGHTS)
    found = ipu.compile(program, args=[WEIGHTS, X], target=TARGET)(WEIGHTS, X)
    torch.testing.assert_close(found, (expected, dense(WEIGHTS) @ X))


@pytest.mark.parametrize(
    ("program", "said"), ((matrix, "give x.to_dense"), (lambda w: matrix(w).sum(), "x.sum of a sparse"))
)
def test_what_is_no_product_is_refused(program, said):
    with pytest.raises(ipu.CompileError, match=said):
        ipu.compile(program, args=[WEIGHTS])
