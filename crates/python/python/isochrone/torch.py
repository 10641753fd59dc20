"""Quasimetrics for PyTorch: the kernels of isochrone as differentiable operations.

`IQE`, `MRN` and `MRNFixed` replace the classes of the same names of torchqmet: constructors,
``state_dict`` and results are the same. All pairs of rows, ``metric(x[:, None], y)`` or
``metric.all_pairs(x, y)``, are computed without a tensor of all differences, and `infonce` also
without the matrix of distances. The kernels compute float32 on the CPU.

>>> import torch
>>> from isochrone.torch import IQE, infonce
>>> metric = IQE(128, dim_per_component=16)
>>> x, y = torch.randn(256, 128), torch.randn(256, 128)
>>> metric(x, y).shape
torch.Size([256])
>>> metric(x[:, None], y).shape
torch.Size([256, 256])
>>> infonce(metric, x, y).shape
torch.Size([])
"""

from __future__ import annotations

import abc
import math
import warnings
from collections.abc import Callable, Collection
from typing import Any, Literal, TypeAlias, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from isochrone import _isochrone as _core
from isochrone._pairing import block

__all__ = ["IQE", "MRN", "MRNFixed", "Quasimetric", "SplitMRN", "infonce"]

_Form: TypeAlias = tuple[str, int, int, int]
_Directions: TypeAlias = Literal["both", "forward", "backward"]
_F = TypeVar("_F", bound=Callable[..., Any])


class _Refused(torch.autograd.Function):
    """The identity of a gradient that has no derivative."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **_: Any) -> Any:
        del ctx
        return args[0].clone()

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise RuntimeError("the kernels of isochrone cannot be differentiated twice")


def _once(backward: _F) -> _F:
    """Let second derivatives raise.

    ``torch.autograd.function.once_differentiable`` does so only if the incoming gradient requires
    one itself; otherwise it returns a constant, and a gradient penalty would be silently ignored.
    """

    def differentiable_once(ctx: Any, *grad_outputs: Any) -> Any:
        with torch.no_grad():
            gradients = backward(ctx, *grad_outputs)
        sources = (*ctx.saved_tensors, *grad_outputs)
        if not _needs_gradient(*sources):
            return gradients
        return tuple(None if g is None else _apply(_Refused, g, *sources) for g in gradients)

    return cast("_F", differentiable_once)


def _apply(function: type[torch.autograd.Function], *args: Any) -> Tensor:
    return cast("Callable[..., Tensor]", function.apply)(*args)


def _needs_gradient(*tensors: Tensor) -> bool:
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def _array(tensor: Tensor) -> NDArray[np.float32]:
    return cast("NDArray[np.float32]", tensor.detach().contiguous().numpy())


def _tensor(array: NDArray[np.float32]) -> Tensor:
    return cast("Tensor", cast("Any", torch).from_numpy(array))


def _check(name: str, tensor: Tensor, width: int) -> None:
    if tensor.dtype != torch.float32 or tensor.device.type != "cpu":
        raise TypeError(
            f"{name} is {tensor.dtype} on {tensor.device}: the kernels compute float32 on the CPU; "
            f"pass {name}.float().cpu()"
        )
    if tensor.ndim == 0 or tensor.shape[-1] != width:
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}, but rows have {width} numbers")


class _AllPairs(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any, **_: Any) -> Any:
        x, y, mix, form, keep = cast("tuple[Tensor, Tensor, Tensor, _Form, bool]", args)
        values, tape = _core.all_pairs(_array(x), _array(y), form, float(mix), keep)
        ctx.save_for_backward(x, y, mix)
        ctx.form, ctx.tape = form, tape
        return _tensor(values)

    @staticmethod
    @_once
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        x, y, mix = cast("tuple[Tensor, Tensor, Tensor]", ctx.saved_tensors)
        gradient = _array(grad_outputs[0])
        dx, dy, dmix = _core.all_pairs_backward(_array(x), _array(y), ctx.form, float(mix), gradient, ctx.tape)
        return _tensor(dx), _tensor(dy), torch.full_like(mix, dmix), None, None


class _Paired(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any, **_: Any) -> Any:
        x, y, mix, form = cast("tuple[Tensor, Tensor, Tensor, _Form]", args)
        ctx.save_for_backward(x, y, mix)
        ctx.form = form
        return _tensor(_core.paired(_array(x), _array(y), form, float(mix)))

    @staticmethod
    @_once
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        x, y, mix = cast("tuple[Tensor, Tensor, Tensor]", ctx.saved_tensors)
        gradient = _array(grad_outputs[0])
        dx, dy, dmix = _core.paired_backward(_array(x), _array(y), ctx.form, float(mix), gradient)
        return _tensor(dx), _tensor(dy), torch.full_like(mix, dmix), None


class _InfoNce(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any, **_: Any) -> Any:
        x, y, potential, mix = cast("tuple[Tensor, Tensor, Tensor, Tensor]", args[:4])
        form, slope, objective, keep = cast("tuple[_Form, float, tuple[bool, bool, float], bool]", args[4:])
        loss, ctx.tape = _core.infonce(
            _array(x), _array(y), _array(potential), form, float(mix), slope, objective, keep
        )
        ctx.save_for_backward(x, y, potential, mix)
        return x.new_tensor(loss)

    @staticmethod
    @_once
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        x, y, potential, mix = cast("tuple[Tensor, Tensor, Tensor, Tensor]", ctx.saved_tensors)
        tape: _core.InfoNceTape = ctx.tape
        (dx, dy, dmix), dpotential = tape.backward(
            _array(x), _array(y), _array(potential), float(grad_outputs[0])
        )
        rows = _tensor(dx), _tensor(dy), _tensor(dpotential)
        return *rows, torch.full_like(mix, dmix), None, None, None, None


def _uncompiled(function: _F) -> _F:
    """Let ``torch.compile`` call the kernels instead of looking into them."""
    return cast("_F", cast("Any", torch.compiler).disable(function))


@_uncompiled
def _evaluate(x: Tensor, y: Tensor, mix: Tensor, form: _Form) -> Tensor:
    """Return the values of all pairs of rows that ``x`` and ``y`` contain when they are broadcast."""
    pairs = block(x.shape, y.shape)
    if pairs is not None:
        rows = x.reshape(pairs.x_shape).permute(pairs.x_axes).reshape(pairs.batch, pairs.n, x.shape[-1])
        columns = y.reshape(pairs.y_shape).permute(pairs.y_axes).reshape(pairs.batch, pairs.m, x.shape[-1])
        values = _apply(_AllPairs, rows, columns, mix, form, _needs_gradient(x, y, mix))
        return values.reshape(pairs.value_shape).permute(pairs.value_axes)
    shape = np.broadcast_shapes(x.shape, y.shape)
    rows, columns = (z.expand(shape).reshape(math.prod(shape[:-1]), shape[-1]) for z in (x, y))
    return _apply(_Paired, rows, columns, mix, form).reshape(shape[:-1])


@_uncompiled
def _fused_infonce(
    x: Tensor,
    y: Tensor,
    potential: Tensor,
    mix: Tensor,
    form: _Form,
    slope: float,
    objective: tuple[bool, bool, float],
) -> Tensor:
    keep = _needs_gradient(x, y, potential, mix)
    return _apply(_InfoNce, x, y, potential, mix, form, slope, objective, keep)


class _Reduction(nn.Module):
    """How components are combined; ``maxmean`` has a parameter with the name that torchqmet uses."""

    raw_alpha: Tensor

    def __init__(self, kind: str, input_num_components: int) -> None:
        super().__init__()
        if kind == "deep_linear_net_weighted_sum":
            raise NotImplementedError(f"reduction={kind!r}: use 'sum', 'max', 'mean' or 'maxmean'")
        if kind not in ("sum", "max", "mean", "maxmean"):
            raise ValueError(f"reduction={kind!r}: use 'sum', 'max', 'mean' or 'maxmean'")
        self.kind = kind
        self.input_num_components = input_num_components
        if kind == "maxmean":
            self.raw_alpha = nn.Parameter(torch.tensor(-1.0))

    def mix_and_scale(self, like: Tensor) -> tuple[Tensor, float]:
        """Return the weight of the maximum relative to the mean, and the factor of the result."""
        if self.kind == "maxmean":
            return self.raw_alpha.sigmoid(), 1.0
        scale = float(self.input_num_components) if self.kind == "sum" else 1.0
        return like.new_tensor(1.0 if self.kind == "max" else 0.0), scale

    def forward(self, components: Tensor) -> Tensor:
        mix, scale = self.mix_and_scale(components)
        return torch.lerp(components.mean(-1), components.amax(-1), mix) * scale

    def extra_repr(self) -> str:
        return f"{self.kind!r}, input_num_components={self.input_num_components}"


class Quasimetric(nn.Module, abc.ABC):
    """A distance between latent rows that need not be symmetric.

    It is non-negative, zero for equal rows, and subject to the triangle inequality.

    Attributes
    ----------
    input_size : int
        The number of features of a row.
    num_components : int
        The number of components that are combined.
    discount : float or None
        If set, the result is ``discount ** distance``.
    guaranteed_quasimetric : bool
        Whether the triangle inequality always holds.
    """

    def __init__(
        self,
        input_size: int,
        num_components: int,
        *,
        guaranteed_quasimetric: bool = True,
        transforms: Collection[str] = (),
        reduction: str = "sum",
        discount: float | None = None,
    ) -> None:
        super().__init__()
        if transforms:
            raise NotImplementedError(f"transforms={tuple(transforms)!r}: transforms are not supported")
        self.input_size = input_size
        self.num_components = num_components
        self.guaranteed_quasimetric = guaranteed_quasimetric
        self.discount = discount
        self.transforms = nn.Sequential()
        self.reduction = _Reduction(reduction, num_components)

    def _latent(self, rows: Tensor) -> Tensor:
        """Return the rows that the kernel compares."""
        return rows

    @abc.abstractmethod
    def _kernel(self, rows: Tensor) -> tuple[_Form, Tensor, float] | None:
        """Return form, mix and scale of the one kernel that computes the distance, if there is one."""

    def _distance(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the distances of latent rows."""
        kernel = self._kernel(x)
        assert kernel is not None, "classes without a kernel have their own distance"
        form, mix, scale = kernel
        values = _evaluate(x, y, mix, form)
        return values if scale == 1.0 else values * scale

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Compute the distances from rows to rows.

        Parameters
        ----------
        x, y : Tensor
            Rows ``(..., input_size)`` whose leading axes are broadcast. All pairs, such as ``(n, 1,
            input_size)`` and ``(m, input_size)``, are computed without expanding the rows.

        Returns
        -------
        Tensor
            Distances of the broadcast shape, without the last axis.
        """
        _check("x", x, self.input_size)
        _check("y", y, self.input_size)
        distance = self._distance(self._latent(x), self._latent(y))
        return distance if self.discount is None else torch.pow(self.discount, distance)

    def __call__(self, x: Tensor, y: Tensor) -> Tensor:
        return cast("Tensor", super().__call__(x, y))

    def all_pairs(self, x: Tensor, y: Tensor) -> Tensor:
        """Compute the distances from each row of ``x`` to each row of ``y``.

        Parameters
        ----------
        x, y : Tensor
            Rows ``(..., n, input_size)`` and ``(..., m, input_size)``.

        Returns
        -------
        Tensor
            Distances ``(..., n, m)``.

        Examples
        --------
        >>> metric = SplitMRN(4)
        >>> metric.all_pairs(torch.eye(4)[:3], torch.eye(4)[:2])
        tensor([[0., 1.],
                [1., 0.],
                [1., 1.]])
        """
        return self(x.unsqueeze(-2), y.unsqueeze(-3))

    def extra_repr(self) -> str:
        return (
            f"input_size={self.input_size}, num_components={self.num_components}, "
            f"discount={self.discount}, guaranteed_quasimetric={self.guaranteed_quasimetric}"
        )


class IQE(Quasimetric):
    """Interval quasimetric embedding (Wang and Isola, 2022).

    A component is the length of the union of the intervals ``[x_k, max(x_k, y_k)]`` of its features.

    Parameters
    ----------
    input_size : int
        The number of features of a row.
    dim_per_component : int
        The number of features of a component.
    transforms : collection of str
        Only ``()`` is supported.
    reduction : str
        ``"maxmean"`` (with a learned weight, ``reduction.raw_alpha`` before the sigmoid), ``"sum"``,
        ``"max"`` or ``"mean"``.
    discount : float, optional
        If set, the result is ``discount ** distance``.
    warn_if_not_quasimetric : bool
        Ignored: this is always a quasimetric.

    Examples
    --------
    >>> metric = IQE(2, dim_per_component=2, reduction="sum")
    >>> metric(torch.tensor([0.0, 1.0]), torch.tensor([2.0, 4.0]))
    tensor(4.)
    >>> metric(torch.tensor([2.0, 4.0]), torch.tensor([0.0, 1.0]))
    tensor(0.)
    """

    def __init__(
        self,
        input_size: int,
        dim_per_component: int = 16,
        *,
        transforms: Collection[str] = (),
        reduction: str = "maxmean",
        discount: float | None = None,
        warn_if_not_quasimetric: bool = True,
    ) -> None:
        del warn_if_not_quasimetric
        if dim_per_component <= 0 or input_size <= 0 or input_size % dim_per_component:
            raise ValueError(f"{input_size=} is not a positive multiple of {dim_per_component=}")
        groups = input_size // dim_per_component
        super().__init__(input_size, groups, transforms=transforms, reduction=reduction, discount=discount)
        self.latent_2d_shape = torch.Size([groups, dim_per_component])

    def _kernel(self, rows: Tensor) -> tuple[_Form, Tensor, float] | None:
        groups, width = self.latent_2d_shape
        return ("iqe", groups, width, 0), *self.reduction.mix_and_scale(rows)


class SplitMRN(Quasimetric):
    """Metric residual network of the rows themselves, without learned projections.

    The mean over components of ``max_k relu(x_k - y_k) + ||x' - y'||``: the first half of a component
    is the asymmetric part, the second half the symmetric one. This is the distance of CMD and of
    isochrone's own models (``head.kind = "mrn"``).

    Parameters
    ----------
    input_size : int
        The number of features of a row.
    components : int
        The number of components that are averaged.

    Examples
    --------
    >>> metric = SplitMRN(4)
    >>> metric(torch.tensor([1.0, 0.0, 3.0, 4.0]), torch.zeros(4))
    tensor(6.)
    """

    def __init__(self, input_size: int, components: int = 1) -> None:
        if components <= 0 or input_size <= 0 or input_size % (2 * components):
            raise ValueError(f"{input_size=} is not a positive multiple of 2 * {components=}")
        super().__init__(input_size, components, reduction="mean")
        self._half = input_size // (2 * components)

    def _kernel(self, rows: Tensor) -> tuple[_Form, Tensor, float] | None:
        return ("mrn", self.num_components, self._half, self._half), rows.new_tensor(0.0), 1.0


class MRN(Quasimetric):
    """Metric residual network (Liu et al., 2023) with learned projections, as in torchqmet.

    Two components: ``max_k relu(a(x)_k - a(y)_k)``, and the root mean square of ``s(x) - s(y)`` to the
    power `sym_p`, where ``a`` and ``s`` are networks with one hidden layer. `SplitMRN` has no
    projections.

    Parameters
    ----------
    input_size : int
        The number of features of a row.
    sym_p : float
        The exponent of the symmetric part. The result is a quasimetric if it is at most 1, and
        fastest if it is 1.
    proj_hidden_size, proj_output_size : int
        The sizes of the projections.
    transforms : collection of str
        Only ``()`` is supported.
    reduction : str
        ``"sum"``, ``"max"``, ``"mean"`` or ``"maxmean"``.
    discount : float, optional
        If set, the result is ``discount ** distance``.
    warn_if_not_quasimetric : bool
        Whether to warn if `sym_p` is larger than 1.

    Examples
    --------
    >>> metric = MRN(128, sym_p=1)
    >>> sorted(metric.state_dict())[:2]
    ['asym_proj.0.bias', 'asym_proj.0.weight']
    """

    def __init__(
        self,
        input_size: int,
        sym_p: float = 2,
        proj_hidden_size: int = 176,
        proj_output_size: int = 16,
        *,
        transforms: Collection[str] = (),
        reduction: str = "sum",
        discount: float | None = None,
        warn_if_not_quasimetric: bool = True,
    ) -> None:
        if sym_p <= 0:
            raise ValueError(f"{sym_p=} is not positive")
        if sym_p > 1 and warn_if_not_quasimetric:
            warnings.warn(
                f"MRN with {sym_p=} is not a quasimetric: use MRNFixed, or sym_p=1", UserWarning, stacklevel=2
            )
        super().__init__(
            input_size,
            2,
            guaranteed_quasimetric=sym_p <= 1,
            transforms=transforms,
            reduction=reduction,
            discount=discount,
        )
        self.sym_p = sym_p
        self._width = proj_output_size
        self.sym_proj = _projection(input_size, proj_hidden_size, proj_output_size)
        self.asym_proj = _projection(input_size, proj_hidden_size, proj_output_size)

    def _latent(self, rows: Tensor) -> Tensor:
        # A norm of scaled rows is the root mean square.
        symmetric = self.sym_proj(rows) / math.sqrt(self._width)
        return torch.cat([self.asym_proj(rows), symmetric], -1)

    def _kernel(self, rows: Tensor) -> tuple[_Form, Tensor, float] | None:
        if self.sym_p != 1 or self.reduction.kind not in ("sum", "mean"):
            return None
        scale = 1.0 if self.reduction.kind == "sum" else 0.5
        return ("mrn", 1, self._width, self._width), rows.new_tensor(0.0), scale

    def _distance(self, x: Tensor, y: Tensor) -> Tensor:
        if self._kernel(x) is not None:
            return super()._distance(x, y)
        width, unused = self._width, x.new_tensor(0.0)
        asymmetric = _evaluate(x[..., :width], y[..., :width], unused, ("mrn", 1, width, 0))
        symmetric = _evaluate(x[..., width:], y[..., width:], unused, ("mrn", 1, 0, width)).pow(self.sym_p)
        return cast("Tensor", self.reduction(torch.stack([symmetric, asymmetric], -1)))

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, sym_p={self.sym_p}"


class MRNFixed(MRN):
    """`MRN` whose symmetric part is a norm instead of its square, so that it is a quasimetric."""

    def __init__(
        self,
        input_size: int,
        sym_p: float = 1,
        proj_hidden_size: int = 176,
        proj_output_size: int = 16,
        *,
        transforms: Collection[str] = (),
        reduction: str = "sum",
        discount: float | None = None,
        warn_if_not_quasimetric: bool = True,
    ) -> None:
        super().__init__(
            input_size,
            sym_p,
            proj_hidden_size,
            proj_output_size,
            transforms=transforms,
            reduction=reduction,
            discount=discount,
            warn_if_not_quasimetric=warn_if_not_quasimetric,
        )


def _projection(input_size: int, hidden_size: int, output_size: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(input_size, hidden_size), nn.ReLU(), nn.Linear(hidden_size, output_size))


def infonce(
    metric: Quasimetric,
    x: Tensor,
    y: Tensor,
    potential: Tensor | None = None,
    *,
    directions: _Directions = "both",
    logsumexp_penalty: float = 0.0,
) -> Tensor:
    """Compute the contrastive loss of ``potential[j] - metric(x[i], y[j])``, positives on the diagonal.

    It is the softmax cross-entropy over the rows of the logits (which ``y`` belongs to an ``x``) plus
    that over their columns (which ``x`` belongs to a ``y``). The matrix of logits is not stored as a
    tensor.

    Parameters
    ----------
    metric : Quasimetric
        The distance. `MRN` with another ``sym_p`` than 1, or combined by a maximum, stores the matrix.
    x, y : Tensor
        Rows ``(n, input_size)``.
    potential : Tensor, optional
        A term ``(n,)`` of the logits per row of ``y``; zero by default.
    directions : {"both", "forward", "backward"}
        The sum of both, only the rows, or only the columns.
    logsumexp_penalty : float
        The weight of the mean squared log-sum-exp of every included direction.

    Returns
    -------
    Tensor
        The loss, a scalar.

    Examples
    --------
    >>> rows = 100 * torch.eye(8)
    >>> round(infonce(SplitMRN(8), rows, rows).item(), 4)
    0.0
    >>> round(infonce(SplitMRN(8), 0 * rows, 0 * rows).item(), 4)    # 2 log 8
    4.1589
    """
    if directions not in ("both", "forward", "backward"):
        raise ValueError(f"{directions=}: use 'both', 'forward' or 'backward'")
    if metric.discount is not None:
        raise ValueError(f"infonce needs distances, but the metric has discount={metric.discount}")
    _check("x", x, metric.input_size)
    _check("y", y, metric.input_size)
    n = x.shape[0]
    if x.ndim != 2 or x.shape != y.shape or n == 0:
        raise ValueError(f"x and y have shapes {tuple(x.shape)} and {tuple(y.shape)}: pass n rows of both")
    if potential is None:
        potential = x.new_zeros(n)
    else:
        _check("potential", potential, n)
        if potential.ndim != 1:
            raise ValueError(f"potential has shape {tuple(potential.shape)} instead of ({n},)")
    rows, columns = directions != "backward", directions != "forward"
    x, y = metric._latent(x), metric._latent(y)  # pyright: ignore[reportPrivateUsage]
    kernel = metric._kernel(x)  # pyright: ignore[reportPrivateUsage]
    if kernel is not None:
        form, mix, scale = kernel
        return _fused_infonce(x, y, potential, mix, form, -scale, (rows, columns, logsumexp_penalty))
    distance = metric._distance(x[:, None], y)  # pyright: ignore[reportPrivateUsage]
    logits = potential - distance
    positives = logits.diagonal().mean()
    sums = [logits.logsumexp(axis) for axis in [1] * rows + [0] * columns]
    return torch.stack([s.mean() - positives + logsumexp_penalty * s.square().mean() for s in sums]).sum()
