"""The kernels in PyTorch, compared with the formulas in PyTorch."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import isochrone  # noqa: E402
from isochrone.torch import IQE, MRN, MRNFixed, Quasimetric, SplitMRN, infonce  # noqa: E402

Distance = Callable[[Any, Any], Any]


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


@pytest.fixture
def threads() -> Iterator[None]:
    yield
    isochrone.set_num_threads(0)


def plain_mrn(x: Any, y: Any, components: int = 1) -> Any:
    x, y = (z.unflatten(-1, (components, 2, -1)) for z in (x, y))
    asymmetric = torch.relu(x[..., 0, :] - y[..., 0, :]).amax(-1)
    return (asymmetric + (x[..., 1, :] - y[..., 1, :]).norm(dim=-1)).mean(-1)


def plain_iqe_components(x: Any, y: Any, width: int) -> Any:
    """Sort the end points, count the open intervals, add the covered gaps: the method of torchqmet."""
    x, y = torch.broadcast_tensors(x.unflatten(-1, (-1, width)), y.unflatten(-1, (-1, width)))
    ends, order = torch.cat([x, y], -1).sort(-1)
    sign = torch.where(order < width, 1, -1) * (x < y).gather(-1, order % width)
    covered = sign.cumsum(-1)[..., :-1] > 0
    return (ends.diff(dim=-1) * covered).sum(-1)


def plain_iqe(x: Any, y: Any, width: int, alpha: Any) -> Any:
    components = plain_iqe_components(x, y, width)
    return torch.lerp(components.mean(-1), components.amax(-1), alpha)


def plain_projected_mrn(metric: MRN, x: Any, y: Any) -> Any:
    symmetric = (metric.sym_proj(x) - metric.sym_proj(y)).square().mean(-1).pow(metric.sym_p / 2)
    asymmetric = (metric.asym_proj(x) - metric.asym_proj(y)).amax(-1).relu()
    return torch.stack([symmetric, asymmetric], -1)


def cases() -> list[tuple[str, Quasimetric, Distance]]:
    iqe = IQE(48, 8)
    fixed = MRNFixed(48)
    return [
        ("split mrn", SplitMRN(48), plain_mrn),
        ("split mrn of 3", SplitMRN(48, 3), lambda x, y: plain_mrn(x, y, 3)),
        ("iqe", iqe, lambda x, y: plain_iqe(x, y, 8, iqe.reduction.raw_alpha.sigmoid())),
        ("iqe sum", IQE(48, 8, reduction="sum"), lambda x, y: plain_iqe_components(x, y, 8).sum(-1)),
        ("iqe mean", IQE(48, 16, reduction="mean"), lambda x, y: plain_iqe_components(x, y, 16).mean(-1)),
        ("iqe max", IQE(48, 4, reduction="max"), lambda x, y: plain_iqe_components(x, y, 4).amax(-1)),
        ("mrn", fixed, lambda x, y: plain_projected_mrn(fixed, x, y).sum(-1)),
    ]


CASES = cases()
METRICS = pytest.mark.parametrize(
    ("metric", "plain"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)


def gradients(value: Any, *inputs: Any) -> Any:
    return torch.autograd.grad(value, inputs)


@METRICS
@pytest.mark.parametrize(("n", "m"), [(33, 17), (2, 70), (64, 64)])
def test_all_pairs_equal_the_formula(metric: Quasimetric, plain: Distance, n: int, m: int) -> None:
    x, y = torch.randn(n, 48, requires_grad=True), torch.randn(m, 48, requires_grad=True)
    weights = torch.randn(n, m)
    ours, expected = metric.all_pairs(x, y), plain(x[:, None], y)
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-5)
    inputs = (x, y, *metric.parameters())
    found = gradients((ours * weights).sum(), *inputs)
    torch.testing.assert_close(found, gradients((expected * weights).sum(), *inputs), rtol=1e-4, atol=1e-4)


@METRICS
def test_pairs_equal_the_formula(metric: Quasimetric, plain: Distance) -> None:
    x, y = torch.randn(50, 48, requires_grad=True), torch.randn(50, 48, requires_grad=True)
    weights = torch.randn(50)
    ours, expected = metric(x, y), plain(x, y)
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-5)
    inputs = (x, y, *metric.parameters())
    found = gradients((ours * weights).sum(), *inputs)
    torch.testing.assert_close(found, gradients((expected * weights).sum(), *inputs), rtol=1e-4, atol=1e-4)


@METRICS
def test_leading_axes_are_broadcast(metric: Quasimetric, plain: Distance) -> None:
    shapes: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
        ((), ()),
        ((5,), ()),
        ((), (5,)),
        ((9, 1), (11,)),
        ((11,), (9, 1)),
        ((9, 1), (1, 11)),
        ((3, 9, 1), (3, 1, 11)),
        ((3, 9, 1), (11,)),
        ((2, 1, 3, 4), (5, 1, 4)),
        ((9, 1, 3), (11, 3)),
        ((3, 1), (3, 7)),
        ((0, 1), (4,)),
        ((0,), (0,)),
    ]
    for x_shape, y_shape in shapes:
        x, y = torch.randn(*x_shape, 48), torch.randn(*y_shape, 48)
        expected = plain(x, y)
        found = metric(x, y)
        assert found.shape == expected.shape == torch.broadcast_shapes(x_shape, y_shape)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@METRICS
def test_batches_of_all_pairs_have_gradients(metric: Quasimetric, plain: Distance) -> None:
    x, y = torch.randn(3, 10, 48, requires_grad=True), torch.randn(3, 12, 48, requires_grad=True)
    weights = torch.randn(3, 10, 12)
    inputs = (x, y, *metric.parameters())
    found = gradients((metric.all_pairs(x, y) * weights).sum(), *inputs)
    expected = gradients((plain(x[:, :, None], y[:, None]) * weights).sum(), *inputs)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@METRICS
def test_distances_are_quasimetrics(metric: Quasimetric, plain: Distance) -> None:
    del plain
    x, y, z = (torch.randn(40, 48) for _ in range(3))
    with torch.no_grad():
        assert metric(x, x).abs().max() == 0
        assert metric(x, y).min() > 0
        assert (metric(x, y) + metric(y, z) - metric(x, z)).min() > -1e-5
        assert (metric(x, y) - metric(y, x)).abs().max() > 0


@METRICS
def test_gradients_equal_finite_differences(metric: Quasimetric, plain: Distance) -> None:
    del plain
    x, y = torch.randn(20, 48, requires_grad=True), torch.randn(20, 48)
    direction = torch.randn(20, 48)
    (gradient,) = gradients(metric.all_pairs(x, y).sum(), x)
    with torch.no_grad():
        after, before = (metric.all_pairs(x + s * 1e-3 * direction, y).double().sum() for s in (1, -1))
    expected = ((after - before) / 2e-3).item()
    assert (gradient * direction).sum().item() == pytest.approx(expected, rel=2e-2, abs=1.0)


@pytest.mark.parametrize("sym_p", [0.5, 2.0, 3.0])
@pytest.mark.parametrize("reduction", ["sum", "mean", "max", "maxmean"])
def test_mrn_has_every_exponent_and_reduction(sym_p: float, reduction: str) -> None:
    metric = MRN(48, sym_p, 32, 8, reduction=reduction, warn_if_not_quasimetric=False)
    x, y = torch.randn(20, 48, requires_grad=True), torch.randn(30, 48, requires_grad=True)
    parts = plain_projected_mrn(metric, x[:, None], y)
    expected = {
        "sum": lambda: parts.sum(-1),
        "mean": lambda: parts.mean(-1),
        "max": lambda: parts.amax(-1),
        "maxmean": lambda: torch.lerp(parts.mean(-1), parts.amax(-1), metric.reduction.raw_alpha.sigmoid()),
    }[reduction]()
    ours = metric(x[:, None], y)
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-5)
    inputs = (x, y, *metric.parameters())
    found = gradients(ours.sum(), *inputs)
    torch.testing.assert_close(found, gradients(expected.sum(), *inputs), rtol=1e-3, atol=1e-3)


def cross_entropy(logits: Any, directions: str = "both", penalty: float = 0.0) -> Any:
    labels = torch.arange(len(logits))
    losses = []
    for name, matrix in (("forward", logits), ("backward", logits.T)):
        if directions in ("both", name):
            loss = torch.nn.functional.cross_entropy(matrix, labels)
            losses.append(loss + penalty * matrix.logsumexp(1).square().mean())
    return sum(losses)


@METRICS
@pytest.mark.parametrize("n", [1, 40, 300])
def test_infonce_equals_cross_entropy(metric: Quasimetric, plain: Distance, n: int) -> None:
    x, y = torch.randn(n, 48, requires_grad=True), torch.randn(n, 48, requires_grad=True)
    potential = torch.randn(n, requires_grad=True)
    ours = infonce(metric, x, y, potential)
    expected = cross_entropy(potential - plain(x[:, None], y))
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-5)
    inputs = (x, y, potential, *metric.parameters())
    found = gradients(2.5 * ours, *inputs)
    torch.testing.assert_close(found, gradients(2.5 * expected, *inputs), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("directions", ["both", "forward", "backward"])
@pytest.mark.parametrize("metric", [SplitMRN(48), MRN(48, 2, warn_if_not_quasimetric=False)])
def test_infonce_has_directions_and_a_penalty(metric: Quasimetric, directions: Any) -> None:
    x, y = torch.randn(30, 48, requires_grad=True), torch.randn(30, 48, requires_grad=True)
    ours = infonce(metric, x, y, directions=directions, logsumexp_penalty=0.1)
    expected = cross_entropy(-metric.all_pairs(x, y), directions, 0.1)
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(gradients(ours, x, y), gradients(expected, x, y), rtol=1e-4, atol=1e-5)


def test_a_second_backward_pass_gives_the_same_gradients() -> None:
    x, y = torch.randn(100, 48, requires_grad=True), torch.randn(100, 48)
    loss = infonce(SplitMRN(48), x, y)
    first = torch.autograd.grad(loss, x, retain_graph=True)
    torch.testing.assert_close(torch.autograd.grad(loss, x), first)


@METRICS
def test_results_do_not_depend_on_the_number_of_threads(
    metric: Quasimetric, plain: Distance, threads: None
) -> None:
    del plain, threads
    x, y = torch.randn(200, 48, requires_grad=True), torch.randn(200, 48, requires_grad=True)

    def results() -> list[Any]:
        matrix, rows, loss = metric.all_pairs(x, y), metric(x, y), infonce(metric, x, y)
        found = [matrix, rows, loss]
        for value in (matrix.sum(), rows.sum(), loss):
            found += gradients(value, x, y)
        return found

    isochrone.set_num_threads(1)
    one = results()
    isochrone.set_num_threads(3)
    assert all(torch.equal(a, b) for a, b in zip(one, results(), strict=True))


def test_several_threads_may_call_at_once() -> None:
    metric = IQE(48, 8)
    x, y = torch.randn(60, 48), torch.randn(60, 48)
    expected, found = metric.all_pairs(x, y).detach(), [None] * 8

    def work(index: int) -> None:
        with torch.no_grad():
            found[index] = metric.all_pairs(x, y)

    workers = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(value is not None and torch.equal(value, expected) for value in found)


@METRICS
def test_no_gradients_are_recorded_without_need(metric: Quasimetric, plain: Distance) -> None:
    del plain
    x, y = torch.randn(30, 48, requires_grad=True), torch.randn(30, 48)
    with torch.no_grad():
        for value in (metric(x, y), metric.all_pairs(x, y), infonce(metric, x, y)):
            assert not value.requires_grad
    with torch.inference_mode():
        metric.all_pairs(x, y)


def test_rows_need_not_be_contiguous() -> None:
    x, y = torch.randn(48, 30).T, torch.randn(60, 48)[::2]
    torch.testing.assert_close(SplitMRN(48).all_pairs(x, y), plain_mrn(x[:, None], y))


def test_numbers_that_are_not_finite_are_not_hidden() -> None:
    x, y = torch.randn(20, 48), torch.randn(20, 48)
    x[3, 5] = torch.nan
    for metric in (SplitMRN(48), IQE(48, 8)):
        assert metric.all_pairs(x, y).isnan().any(1).tolist() == [row == 3 for row in range(20)]
        assert metric(x, y).isnan().tolist() == [row == 3 for row in range(20)]


def test_discounted_distances() -> None:
    x, y = torch.randn(20, 48), torch.randn(20, 48)
    metric, plain = IQE(48, 8, discount=0.9), IQE(48, 8)
    torch.testing.assert_close(metric(x, y), 0.9 ** plain(x, y))
    with pytest.raises(ValueError, match="discount=0.9"):
        infonce(metric, x, y)


def test_second_derivatives_are_refused() -> None:
    x, y = torch.randn(10, 48, requires_grad=True), torch.randn(10, 48)
    for value in (SplitMRN(48)(x, y).sum(), IQE(48).all_pairs(x, y).sum(), infonce(IQE(48), x, y)):
        (gradient,) = torch.autograd.grad(value, x, create_graph=True)
        with pytest.raises(RuntimeError, match="cannot be differentiated twice"):
            gradient.square().sum().backward()


def test_other_types_and_shapes_are_refused() -> None:
    metric = SplitMRN(48)
    x = torch.randn(10, 48)
    with pytest.raises(TypeError, match=r"x is torch.float64 on cpu.*x.float\(\).cpu\(\)"):
        metric(x.double(), x)
    with pytest.raises(TypeError, match="y is torch.bfloat16"):
        metric(x, x.bfloat16())
    with pytest.raises(TypeError, match="on meta"):
        metric(x.to("meta"), x)
    with pytest.raises(ValueError, match=r"y has shape \(10, 47\), but rows have 48 numbers"):
        metric(x, x[:, 1:])
    with pytest.raises(ValueError, match=r"\(10, 48\) and \(9, 48\) cannot be broadcast"):
        metric(x, x[1:])
    with pytest.raises(ValueError, match=r"\(10, 48\) and \(9, 48\)"):
        infonce(metric, x, x[1:])
    with pytest.raises(ValueError, match="n rows"):
        infonce(metric, x[:0], x[:0])
    with pytest.raises(ValueError, match="potential"):
        infonce(metric, x, x, torch.zeros(9))
    with pytest.raises(TypeError, match="potential is torch.float64"):
        infonce(metric, x, x, torch.zeros(10).double())
    with pytest.raises(ValueError, match="directions"):
        infonce(metric, x, x, directions="sideways")  # type: ignore[arg-type]


def test_other_settings_are_refused() -> None:
    for make in (lambda: IQE(48, 7), lambda: IQE(48, 0), lambda: SplitMRN(48, 5), lambda: SplitMRN(0)):
        with pytest.raises(ValueError, match="positive multiple"):
            make()
    with pytest.raises(NotImplementedError, match="concave_activation"):
        IQE(48, transforms=["concave_activation"])
    with pytest.raises(NotImplementedError, match="deep_linear_net_weighted_sum"):
        IQE(48, reduction="deep_linear_net_weighted_sum")
    with pytest.raises(ValueError, match="reduction='median'"):
        MRN(48, 1, reduction="median")
    with pytest.raises(ValueError, match="sym_p=0"):
        MRN(48, 0)
    with pytest.warns(UserWarning, match="not a quasimetric"):
        MRN(48)


def test_the_compiled_half_checks_shapes() -> None:
    from isochrone import _isochrone as core

    x = torch.randn(2, 10, 48).numpy()
    for form in (("mrn", 1, 24, 23), ("iqe", 5, 8, 0), ("other", 1, 48, 0), ("mrn", 2**63, 2, 0)):
        with pytest.raises(isochrone.IsochroneError):
            core.all_pairs(x, x, form, 0.0, False)
    with pytest.raises(isochrone.IsochroneError):
        core.all_pairs(x, x[:1], ("mrn", 1, 24, 24), 0.0, False)
    with pytest.raises(isochrone.IsochroneError):
        core.all_pairs_backward(x, x, ("mrn", 1, 24, 24), 0.0, x[:, :, :9].copy())
    with pytest.raises(isochrone.IsochroneError):
        core.paired(x[0], x[1, 1:], ("mrn", 1, 24, 24), 0.0)


def test_state_dicts_have_the_keys_of_torchqmet() -> None:
    assert list(IQE(48).state_dict()) == ["reduction.raw_alpha"]
    assert IQE(48).reduction.raw_alpha.item() == -1.0
    assert list(IQE(48, reduction="sum").state_dict()) == []
    layers = [f"{layer}.{kind}" for layer in (0, 2) for kind in ("weight", "bias")]
    keys = [f"{part}.{layer}" for part in ("sym_proj", "asym_proj") for layer in layers]
    metric = MRNFixed(48)
    assert list(metric.state_dict()) == keys
    assert metric.state_dict()["sym_proj.0.weight"].shape == (176, 48)
    assert metric.state_dict()["asym_proj.2.weight"].shape == (16, 176)


@METRICS
def test_modules_are_copied_pickled_and_restored(metric: Quasimetric, plain: Distance) -> None:
    del plain
    x, y = torch.randn(20, 48), torch.randn(20, 48)
    with torch.no_grad():
        for parameter in metric.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
        expected = metric(x, y)
        for other in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
            assert torch.equal(other(x, y), expected)
            assert repr(other) == repr(metric)
            for parameter in other.parameters():
                parameter.zero_()
            other.load_state_dict(metric.state_dict())
            assert torch.equal(other(x, y), expected)


def test_an_encoder_learns_with_the_loss() -> None:
    encoder = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.ReLU(), torch.nn.Linear(64, 48))
    metric = IQE(48, 8)
    optimizer = torch.optim.Adam([*encoder.parameters(), *metric.parameters()], 3e-3)
    states = torch.randn(128, 4)
    losses = []
    for _ in range(40):
        loss = infonce(metric, encoder(states), encoder(states + 0.01 * torch.randn(128, 4)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]
