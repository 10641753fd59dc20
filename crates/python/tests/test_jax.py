"""The kernels in JAX, compared with the formulas in JAX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

import isochrone  # noqa: E402
import isochrone.jax as kernels  # noqa: E402

Distance = Callable[[Any, Any], Any]
ALPHA = 0.3


@pytest.fixture
def threads() -> Iterator[None]:
    yield
    isochrone.set_num_threads(0)


def normal(seed: int, *shape: int) -> Any:
    return jax.random.normal(jax.random.key(seed), shape)


def norm(z: Any) -> Any:
    squares = (z * z).sum(-1)
    return jnp.where(squares > 0, jnp.sqrt(jnp.where(squares > 0, squares, 1.0)), 0.0)


def plain_mrn(x: Any, y: Any, components: int = 1) -> Any:
    difference = (x - y).reshape(*jnp.broadcast_shapes(x.shape, y.shape)[:-1], components, 2, -1)
    return (jax.nn.relu(difference[..., 0, :]).max(-1) + norm(difference[..., 1, :])).mean(-1)


def plain_iqe(x: Any, y: Any, width: int, alpha: Any) -> Any:
    """Sort the end points, count the open intervals, add the covered gaps."""
    x, y = (z.reshape(*z.shape[:-1], -1, width) for z in jnp.broadcast_arrays(x, y))
    both = jnp.concatenate([x, y], -1)
    order = both.argsort(-1)
    ends = jnp.take_along_axis(both, order, -1)
    sign = jnp.where(order < width, 1, -1) * jnp.take_along_axis(x < y, order % width, -1)
    covered = sign.cumsum(-1)[..., :-1] > 0
    components = (jnp.diff(ends, axis=-1) * covered).sum(-1)
    return alpha * components.max(-1) + (1 - alpha) * components.mean(-1)


METRICS = pytest.mark.parametrize(
    ("metric", "plain"),
    [
        (kernels.mrn(), jax.jit(plain_mrn)),
        (kernels.mrn(3), jax.jit(lambda x, y: plain_mrn(x, y, 3))),
        (kernels.iqe(8, ALPHA), jax.jit(lambda x, y: plain_iqe(x, y, 8, ALPHA))),
    ],
    ids=["mrn", "mrn of 3", "iqe"],
)


def grad(function: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    return jax.jit(jax.grad(function, argnums))


def close(found: Any, expected: Any, tolerance: float) -> None:
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance), found, expected)


@METRICS
@pytest.mark.parametrize(("n", "m"), [(33, 17), (2, 70)])
def test_all_pairs_equal_the_formula(metric: Any, plain: Distance, n: int, m: int) -> None:
    x, y, weights = normal(0, n, 48), normal(1, m, 48), normal(2, n, m)
    close(metric.all_pairs(x, y), plain(x[:, None], y), 1e-5)
    ours = grad(lambda x, y: (metric.all_pairs(x, y) * weights).sum(), (0, 1))(x, y)
    expected = grad(lambda x, y: (plain(x[:, None], y) * weights).sum(), (0, 1))(x, y)
    close(ours, expected, 1e-4)


@METRICS
def test_pairs_equal_the_formula(metric: Any, plain: Distance) -> None:
    x, y, weights = normal(0, 50, 48), normal(1, 50, 48), normal(2, 50)
    close(metric(x, y), plain(x, y), 1e-5)
    ours = grad(lambda x, y: (metric(x, y) * weights).sum(), (0, 1))(x, y)
    expected = grad(lambda x, y: (plain(x, y) * weights).sum(), (0, 1))(x, y)
    close(ours, expected, 1e-4)


@METRICS
def test_leading_axes_are_broadcast(metric: Any, plain: Distance) -> None:
    shapes: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
        ((), ()),
        ((5,), ()),
        ((9, 1), (11,)),
        ((11,), (9, 1)),
        ((3, 9, 1), (3, 1, 11)),
        ((3, 9, 1), (11,)),
        ((9, 1, 3), (11, 3)),
        ((3, 1), (3, 7)),
        ((0, 1), (4,)),
        ((0,), (0,)),
    ]
    for x_shape, y_shape in shapes:
        x, y = normal(0, *x_shape, 48), normal(1, *y_shape, 48)
        found = metric(x, y)
        assert found.shape == np.broadcast_shapes(x_shape, y_shape)
        if found.size:
            close(found, plain(x, y), 1e-5)


@METRICS
def test_distances_are_quasimetrics(metric: Any, plain: Distance) -> None:
    del plain
    x, y, z = (normal(seed, 40, 48) for seed in range(3))
    assert jnp.abs(metric(x, x)).max() == 0
    assert metric(x, y).min() > 0
    assert (metric(x, y) + metric(y, z) - metric(x, z)).min() > -1e-5


@METRICS
def test_gradients_equal_finite_differences(metric: Any, plain: Distance) -> None:
    del plain
    x, y, direction = normal(0, 20, 48), normal(1, 20, 48), normal(2, 20, 48)
    gradient = grad(lambda x: metric.all_pairs(x, y).sum())(x)
    after, before = (np.float64(metric.all_pairs(x + s * 1e-3 * direction, y)).sum() for s in (1, -1))
    assert float((gradient * direction).sum()) == pytest.approx((after - before) / 2e-3, rel=2e-2, abs=1.0)


def cross_entropy(logits: Any, directions: str = "both", penalty: float = 0.0) -> Any:
    loss = jnp.float32(0)
    for name, axis in (("forward", 1), ("backward", 0)):
        if directions in ("both", name):
            sums = jax.nn.logsumexp(logits, axis)
            loss += (sums - jnp.diagonal(logits)).mean() + penalty * (sums**2).mean()
    return loss


@METRICS
@pytest.mark.parametrize("n", [1, 40, 300])
def test_infonce_equals_cross_entropy(metric: Any, plain: Distance, n: int) -> None:
    args = normal(0, n, 48), normal(1, n, 48), normal(2, n)

    def ours(x: Any, y: Any, potential: Any) -> Any:
        return 2.5 * kernels.infonce(metric, x, y, potential)

    def expected(x: Any, y: Any, potential: Any) -> Any:
        return 2.5 * cross_entropy(potential - plain(x[:, None], y))

    close(ours(*args), expected(*args), 1e-5)
    found = jax.jit(jax.value_and_grad(ours, (0, 1, 2)))(*args)
    close(found, jax.jit(jax.value_and_grad(expected, (0, 1, 2)))(*args), 1e-4)


@pytest.mark.parametrize("directions", ["both", "forward", "backward"])
def test_infonce_has_directions_and_a_penalty(directions: Any) -> None:
    metric, x, y = kernels.mrn(), normal(0, 30, 48), normal(1, 30, 48)

    def ours(x: Any) -> Any:
        return kernels.infonce(metric, x, y, directions=directions, logsumexp_penalty=0.1)

    def expected(x: Any) -> Any:
        return cross_entropy(-plain_mrn(x[:, None], y), directions, 0.1)

    close(jax.value_and_grad(ours)(x), jax.value_and_grad(expected)(x), 1e-4)


def test_the_weight_of_the_maximum_has_a_gradient() -> None:
    x, y = normal(0, 30, 48), normal(1, 30, 48)
    losses: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
        (lambda m: m.all_pairs(x, y).sum(), lambda a: plain_iqe(x[:, None], y, 8, a).sum()),
        (lambda m: m(x, y).sum(), lambda a: plain_iqe(x, y, 8, a).sum()),
        (
            lambda m: kernels.infonce(m, x, y),
            lambda a: cross_entropy(-plain_iqe(x[:, None], y, 8, a)),
        ),
    ]
    for ours, expected in losses:
        found = jax.grad(lambda raw: ours(kernels.iqe(8, jax.nn.sigmoid(raw))))(0.2)
        close(found, jax.grad(lambda raw: expected(jax.nn.sigmoid(raw)))(0.2), 1e-3)
        # A metric is a pytree.
        close(
            jax.jit(jax.grad(ours))(kernels.iqe(8, jnp.float32(0.5))).alpha, jax.grad(expected)(0.5), 1e-3
        )


@METRICS
def test_vmap_equals_a_loop(metric: Any, plain: Distance) -> None:
    del plain
    x, y, potential = normal(0, 5, 20, 48), normal(1, 5, 20, 48), normal(2, 5, 20)
    functions: list[Callable[..., Any]] = [
        lambda x, y, p: metric(x, y) + p,
        lambda x, y, p: metric.all_pairs(x, y) + p,
        lambda x, y, p: kernels.infonce(metric, x, y, p),
    ]
    for function in functions:
        gradient = jax.grad(lambda *args, f=function: f(*args).sum(), (0, 1, 2))
        for run in (function, gradient):
            loop = [run(*args) for args in zip(x, y, potential, strict=True)]
            expected = jax.tree.map(lambda *leaves: jnp.stack(leaves), *loop)
            close(jax.vmap(run)(x, y, potential), expected, 1e-6)
            close(jax.jit(jax.vmap(run))(x, y, potential), expected, 1e-6)
        # One batched argument, and two nested axes.
        loop = [function(part, y[0], potential[0]) for part in x]
        close(jax.vmap(function, (0, None, None))(x, y[0], potential[0]), jnp.stack(loop), 1e-6)
        nested = jax.vmap(jax.vmap(function, (0, None, None)), (None, 0, 0))(x, y, potential)
        loop = [[function(a, b, p) for a in x] for b, p in zip(y, potential, strict=True)]
        close(nested, jnp.stack([jnp.stack(row) for row in loop]), 1e-6)


def test_vmap_of_the_weight_equals_a_loop() -> None:
    x, y, alphas = normal(0, 20, 48), normal(1, 20, 48), jnp.linspace(0.0, 1.0, 4)
    found = jax.vmap(lambda alpha: kernels.iqe(8, alpha).all_pairs(x, y))(alphas)
    close(found, jnp.stack([kernels.iqe(8, alpha).all_pairs(x, y) for alpha in alphas]), 1e-6)


@METRICS
def test_batches_of_all_pairs_have_gradients(metric: Any, plain: Distance) -> None:
    x, y, weights = normal(0, 3, 10, 48), normal(1, 3, 12, 48), normal(2, 3, 10, 12)
    ours = grad(lambda x, y: (metric.all_pairs(x, y) * weights).sum(), (0, 1))(x, y)
    expected = grad(lambda x, y: (plain(x[:, :, None], y[:, None]) * weights).sum(), (0, 1))(x, y)
    close(ours, expected, 1e-4)


@METRICS
def test_results_do_not_depend_on_the_number_of_threads(metric: Any, plain: Distance, threads: None) -> None:
    del plain, threads
    x, y = normal(0, 4, 200, 48), normal(1, 4, 200, 48)

    def results() -> list[Any]:
        matrices = jax.value_and_grad(lambda x, y: metric.all_pairs(x, y).sum(), (0, 1))(x, y)
        loss = jax.value_and_grad(lambda x, y: kernels.infonce(metric, x, y), (0, 1))
        return jax.tree.leaves([matrices, loss(x[0], y[0]), jax.vmap(loss)(x, y)])

    isochrone.set_num_threads(1)
    one = results()
    isochrone.set_num_threads(3)
    assert all(np.array_equal(a, b) for a, b in zip(one, results(), strict=True))


def test_kernels_work_in_loops_of_jax() -> None:
    metric, y = kernels.mrn(), normal(1, 30, 48)

    def step(x: Any, _: Any) -> tuple[Any, Any]:
        loss, gradient = jax.value_and_grad(lambda x: kernels.infonce(metric, x, y))(x)
        return x - 10.0 * gradient, loss

    _, losses = jax.jit(lambda x: jax.lax.scan(step, x, None, 30))(normal(0, 30, 48))
    assert losses[-1] < 0.5 * losses[0]


def test_numbers_that_are_not_finite_are_not_hidden() -> None:
    x, y = normal(0, 20, 48).at[3, 5].set(jnp.nan), normal(1, 20, 48)
    for metric in (kernels.mrn(), kernels.iqe(8)):
        assert jnp.isnan(metric.all_pairs(x, y)).any(1).tolist() == [row == 3 for row in range(20)]


def test_other_types_and_shapes_are_refused() -> None:
    metric, x = kernels.mrn(), normal(0, 10, 48)
    with pytest.raises(TypeError, match=r"x is float16: .* x.astype\('float32'\)"):
        metric(x.astype(jnp.float16), x)
    with pytest.raises(TypeError, match="y is int32"):
        jax.jit(metric)(x, x.astype(jnp.int32))
    with pytest.raises(ValueError, match=r"\(10, 48\) and \(10, 47\)"):
        metric(x, x[:, 1:])
    with pytest.raises(ValueError, match="cannot be broadcast"):
        metric(x, x[1:])
    with pytest.raises(ValueError, match="multiple of 16"):
        kernels.iqe(16)(x[:, :40], x[:, :40])
    with pytest.raises(ValueError, match="matrices"):
        metric.all_pairs(x[0], x)
    with pytest.raises(ValueError, match="n rows"):
        kernels.infonce(metric, x, x[1:])
    with pytest.raises(ValueError, match="potential"):
        kernels.infonce(metric, x, x, jnp.zeros(9))
    with pytest.raises(ValueError, match="directions"):
        kernels.infonce(metric, x, x, directions="sideways")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="scalar"):
        kernels.iqe(16, jnp.zeros(2))(x, x)
    with pytest.raises(ValueError, match="positive"):
        kernels.mrn(0)
    with pytest.raises(ValueError, match="positive"):
        kernels.iqe(0)
    with jax.enable_x64(True), pytest.raises(TypeError, match="float64"):
        metric(x.astype(jnp.float64), x)


def call(name: str, shape: tuple[int, ...], *args: Any, **attributes: Any) -> Any:
    result = jax.ShapeDtypeStruct(shape, jnp.float32)
    return jax.block_until_ready(jax.ffi.ffi_call(f"isochrone_{name}", result)(*args, **attributes))


def test_handlers_return_errors_of_xla() -> None:
    x, mix = normal(0, 10, 48), jnp.float32(0)
    form: dict[str, Any] = {"kind": "mrn", "a": np.int64(1), "b": np.int64(24), "c": np.int64(24)}
    assert call("all_pairs", (10, 10), x, x, mix, **form).shape == (10, 10)
    wrong: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("instead of", ((10, 9), x, x, mix), form),
        ("instead of", ((10, 10), x, x[:, 1:], mix), form),
        ("instead of", ((10, 10), x, x, x), form),
        ("x has shape", ((10, 10), x[0, 0], x, mix), form),
        ("y is not an array of float32", ((10, 10), x, x.astype(jnp.float16), mix), form),
        ("arguments and results", ((10, 10), x, x), form),
        ("cannot be split", ((10, 10), x, x, mix), {**form, "c": np.int64(23)}),
        ("cannot be split", ((10, 10), x, x, mix), {**form, "a": np.int64(2**62)}),
        ("'b' is -1", ((10, 10), x, x, mix), {**form, "b": np.int64(-1)}),
        ("'a' has another type", ((10, 10), x, x, mix), {**form, "a": np.float32(1.5)}),
        ("'kind' is not a string", ((10, 10), x, x, mix), {**form, "kind": np.int64(0)}),
        ("not a quasimetric", ((10, 10), x, x, mix), {**form, "kind": "other"}),
        ("'kind' is missing", ((10, 10), x, x, mix), {"a": np.int64(1)}),
    ]
    for message, (shape, *args), attributes in wrong:
        attributes = {"a": np.int64(1), "b": np.int64(24), "c": np.int64(24), **attributes}
        with pytest.raises(Exception, match=message):
            call("all_pairs", shape, *args, **attributes)
    # The process and the kernels still work.
    assert call("paired", (10,), x, x, mix, **form).tolist() == [0.0] * 10
