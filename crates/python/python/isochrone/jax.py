"""Quasimetrics for JAX on the CPU: XLA calls the kernels of isochrone directly.

They work under ``jax.jit``, ``jax.grad``, ``jax.value_and_grad`` and ``jax.vmap``, compute float32,
and need no tensor of all differences; `infonce` also needs no matrix of distances.

>>> import jax
>>> import isochrone.jax
>>> metric = isochrone.jax.mrn()
>>> x, y = jax.random.normal(jax.random.key(0), (2, 256, 64))
>>> metric(x, y).shape
(256,)
>>> metric.all_pairs(x, y).shape
(256, 256)
>>> jax.jit(jax.grad(lambda x: isochrone.jax.infonce(metric, x, y)))(x).shape
(256, 64)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, Literal, TypeAlias, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from isochrone import _isochrone as _core
from isochrone._pairing import block

__all__ = ["Quasimetric", "infonce", "iqe", "mrn"]

_Form: TypeAlias = tuple[Literal["mrn", "iqe"], int, int, int]
_Directions: TypeAlias = Literal["both", "forward", "backward"]
# Whether rows and columns are included, and the weight of the squared log-sum-exps.
_Objective: TypeAlias = tuple[bool, bool, float]

# Parts of JAX whose types are not known completely.
_ffi, _numpy = cast("Any", jax.ffi), cast("Any", jnp)

for _name, _address in _core.xla_targets():
    _ffi.register_ffi_target(_name, _ffi.pycapsule(ctypes.c_void_p(_address)), platform="cpu")


def _call(name: str, shapes: Sequence[tuple[int, ...]], *args: Array, **attributes: Any) -> tuple[Array, ...]:
    """Call a kernel, whose handler accepts any number of leading batch axes."""
    struct = cast("Callable[[tuple[int, ...], Any], jax.ShapeDtypeStruct]", jax.ShapeDtypeStruct)
    results = [struct(shape, jnp.float32) for shape in shapes]
    call = jax.ffi.ffi_call(f"isochrone_{name}", results, vmap_method="broadcast_all")
    return tuple(call(*args, **attributes))


def _of_form(form: _Form) -> dict[str, Any]:
    kind, *sizes = form
    return {"kind": kind, **dict(zip("abc", map(np.int64, sizes), strict=True))}


def _of_objective(objective: _Objective) -> dict[str, Any]:
    forward, backward, penalty = objective
    return {
        "forward": np.int64(forward),
        "backward": np.int64(backward),
        "penalty": np.float32(penalty),
        "slope": np.float32(-1.0),
    }


def _differentiable(
    value: Callable[..., Array],
    forward: Callable[..., tuple[Array, tuple[Array, ...]]],
    backward: Callable[..., tuple[Array, ...]],
    static: int,
) -> Callable[..., Array]:
    """Return a function with a derivative rule, whose first ``static`` arguments are not arrays."""
    function = cast("Any", jax.custom_vjp)(value, nondiff_argnums=tuple(range(static)))
    function.defvjp(forward, backward)
    return cast("Callable[..., Array]", function)


def _all_pairs_value(form: _Form, x: Array, y: Array, mix: Array) -> Array:
    return _call("all_pairs", [(x.shape[0], y.shape[0])], x, y, mix, **_of_form(form))[0]


def _all_pairs_forward(form: _Form, *rows: Array) -> tuple[Array, tuple[Array, ...]]:
    return _all_pairs_value(form, *rows), rows


def _all_pairs_backward(form: _Form, rows: tuple[Array, ...], gradient: Array) -> tuple[Array, ...]:
    return _call("all_pairs_backward", [z.shape for z in rows], *rows, gradient, **_of_form(form))


def _paired_value(form: _Form, x: Array, y: Array, mix: Array) -> Array:
    return _call("paired", [(x.shape[0],)], x, y, mix, **_of_form(form))[0]


def _paired_forward(form: _Form, *rows: Array) -> tuple[Array, tuple[Array, ...]]:
    return _paired_value(form, *rows), rows


def _paired_backward(form: _Form, rows: tuple[Array, ...], gradient: Array) -> tuple[Array, ...]:
    return _call("paired_backward", [z.shape for z in rows], *rows, gradient, **_of_form(form))


def _infonce_value(form: _Form, objective: _Objective, *args: Array) -> Array:
    return _call("infonce", [()], *args, **_of_form(form), **_of_objective(objective))[0]


def _infonce_forward(form: _Form, objective: _Objective, *args: Array) -> tuple[Array, tuple[Array, ...]]:
    shapes = [(), *(z.shape for z in args)]
    attributes = {**_of_form(form), **_of_objective(objective)}
    loss, *gradients = _call("infonce_gradients", shapes, *args, **attributes)
    return loss, tuple(gradients)


def _infonce_backward(
    form: _Form, objective: _Objective, gradients: tuple[Array, ...], upstream: Array
) -> tuple[Array, ...]:
    del form, objective
    return tuple(upstream * gradient for gradient in gradients)


_all_pairs = _differentiable(_all_pairs_value, _all_pairs_forward, _all_pairs_backward, 1)
_paired = _differentiable(_paired_value, _paired_forward, _paired_backward, 1)
_infonce = _differentiable(_infonce_value, _infonce_forward, _infonce_backward, 2)


def _checked(name: str, numbers: ArrayLike) -> Array:
    array: Array = _numpy.asarray(numbers)
    if array.dtype != jnp.float32:
        raise TypeError(f"{name} is {array.dtype}: the kernels compute float32; pass {name}.astype('float32')")
    return array


def _rows(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    x, y = _checked("x", x), _checked("y", y)
    if x.ndim == 0 or y.ndim == 0 or x.shape[-1] != y.shape[-1] or x.shape[-1] == 0:
        raise ValueError(f"x and y have shapes {x.shape} and {y.shape}: pass rows of the same width")
    return x, y


@partial(jax.tree_util.register_dataclass, data_fields=["alpha"], meta_fields=["kind", "part"])
@dataclass(frozen=True)
class Quasimetric:
    """A distance between latent rows that need not be symmetric; see `mrn` and `iqe`.

    It is non-negative, zero for equal rows, and subject to the triangle inequality. It is a pytree
    whose only leaf is ``alpha``, so it can be an argument of transformed functions.
    """

    kind: Literal["mrn", "iqe"]
    part: int
    alpha: Any

    def _form(self, width: int) -> _Form:
        multiple = 2 * self.part if self.kind == "mrn" else self.part
        if width % multiple:
            raise ValueError(f"rows of {width} numbers: the width must be a multiple of {multiple}")
        if self.kind == "mrn":
            return ("mrn", self.part, width // multiple, width // multiple)
        return ("iqe", width // multiple, multiple, 0)

    def _mix(self) -> Array:
        alpha: Array = _numpy.asarray(self.alpha, jnp.float32)
        if alpha.ndim:
            raise ValueError(f"alpha has shape {alpha.shape}: pass a scalar")
        return alpha

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Compute the distances from rows to rows.

        Parameters
        ----------
        x, y : array
            Rows ``(..., width)`` whose leading axes are broadcast. All pairs, such as ``(n, 1,
            width)`` and ``(m, width)``, are computed without expanding the rows.

        Returns
        -------
        Array
            Distances of the broadcast shape, without the last axis.
        """
        x, y = _rows(x, y)
        width = x.shape[-1]
        form, mix = self._form(width), self._mix()
        pairs = block(x.shape, y.shape)
        if pairs is None:
            shape = np.broadcast_shapes(x.shape, y.shape)
            x, y = (jnp.broadcast_to(z, shape).reshape(prod(shape[:-1]), width) for z in (x, y))
            return _paired(form, x, y, mix).reshape(shape[:-1])
        rows = x.reshape(pairs.x_shape).transpose(pairs.x_axes).reshape(pairs.batch, pairs.n, width)
        columns = y.reshape(pairs.y_shape).transpose(pairs.y_axes).reshape(pairs.batch, pairs.m, width)
        if pairs.batch == 1:
            values = _all_pairs(form, rows[0], columns[0], mix)
        else:
            values = jax.vmap(partial(_all_pairs, form), (0, 0, None))(rows, columns, mix)
        return values.reshape(pairs.value_shape).transpose(pairs.value_axes)

    def all_pairs(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Compute the distances from each row of ``x`` to each row of ``y``.

        Parameters
        ----------
        x, y : array
            Rows ``(..., n, width)`` and ``(..., m, width)``.

        Returns
        -------
        Array
            Distances ``(..., n, m)``.

        Examples
        --------
        >>> import jax.numpy as jnp
        >>> mrn().all_pairs(jnp.eye(4)[:3], jnp.eye(4)[:2]).tolist()
        [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
        """
        x, y = _rows(x, y)
        if x.ndim < 2 or y.ndim < 2:
            raise ValueError(f"x and y have shapes {x.shape} and {y.shape}: pass matrices")
        return self(x[..., :, None, :], y[..., None, :, :])


def mrn(components: int = 1) -> Quasimetric:
    """Return the metric residual network (Liu et al., 2023) of the rows themselves.

    The mean over components of ``max_k relu(x_k - y_k) + ||x' - y'||``: the first half of a component
    is the asymmetric part, the second half the symmetric one.

    Parameters
    ----------
    components : int
        The number of components; the width of rows must be a multiple of twice this number.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> float(mrn()(jnp.array([1.0, 0.0, 3.0, 4.0]), jnp.zeros(4)))
    6.0
    """
    if components <= 0:
        raise ValueError(f"{components=} is not positive")
    return Quasimetric("mrn", components, np.float32(0.0))


def iqe(dim_per_component: int = 16, alpha: ArrayLike = 0.5) -> Quasimetric:
    """Return the interval quasimetric embedding (Wang and Isola, 2022).

    A component is the length of the union of the intervals ``[x_k, max(x_k, y_k)]`` of its features.
    The distance is ``alpha * max + (1 - alpha) * mean`` of the components.

    Parameters
    ----------
    dim_per_component : int
        The number of features of a component; the width of rows must be a multiple of it.
    alpha : array
        The weight of the maximum, which may be traced: ``iqe(16, jax.nn.sigmoid(parameter))`` in a
        loss function has a gradient with respect to the parameter.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> float(iqe(2)(jnp.array([0.0, 1.0]), jnp.array([2.0, 4.0])))
    4.0
    """
    if dim_per_component <= 0:
        raise ValueError(f"{dim_per_component=} is not positive")
    return Quasimetric("iqe", dim_per_component, alpha)


def infonce(
    metric: Quasimetric,
    x: ArrayLike,
    y: ArrayLike,
    potential: ArrayLike | None = None,
    *,
    directions: _Directions = "both",
    logsumexp_penalty: float = 0.0,
) -> Array:
    """Compute the contrastive loss of ``potential[j] - metric(x[i], y[j])``, positives on the diagonal.

    It is the softmax cross-entropy over the rows of the logits (which ``y`` belongs to an ``x``) plus
    that over their columns (which ``x`` belongs to a ``y``). The matrix of logits is not an array of
    JAX. Under ``jax.grad``, one call computes the loss and its gradients.

    Parameters
    ----------
    metric : Quasimetric
        The distance.
    x, y : array
        Rows ``(n, width)``.
    potential : array, optional
        A term ``(n,)`` of the logits per row of ``y``; zero by default.
    directions : {"both", "forward", "backward"}
        The sum of both, only the rows, or only the columns.
    logsumexp_penalty : float
        The weight of the mean squared log-sum-exp of every included direction.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> round(float(infonce(mrn(), jnp.zeros((8, 4)), jnp.zeros((8, 4)))), 4)    # 2 log 8
    4.1589
    """
    if directions not in ("both", "forward", "backward"):
        raise ValueError(f"{directions=}: use 'both', 'forward' or 'backward'")
    x, y = _rows(x, y)
    n = x.shape[0]
    if x.ndim != 2 or x.shape != y.shape or n == 0:
        raise ValueError(f"x and y have shapes {x.shape} and {y.shape}: pass n rows of both")
    potential = _checked("potential", np.zeros(n, np.float32) if potential is None else potential)
    if potential.shape != (n,):
        raise ValueError(f"potential has shape {potential.shape} instead of ({n},)")
    objective = (directions != "backward", directions != "forward", float(logsumexp_penalty))
    return _infonce(metric._form(x.shape[1]), objective, x, y, potential, metric._mix())  # pyright: ignore[reportPrivateUsage]
