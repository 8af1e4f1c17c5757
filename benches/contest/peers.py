"""The peers: scikit-learn without privacy, diffprivlib, and DP-SGD by Opacus, all tuned on the test records.

Tuning on the test records flatters a peer, and the privacy that tuning costs in practice is not counted either.
"""

import itertools
import math
import warnings

import numpy

# A configuration of Opacus: its batches have this share of the records, it takes this many steps, clips to this norm, and steps at most
# this far in all. The learning rate is path / (clip · steps): rates that suit one clip and number of steps then suit them all.
SHARES, STEPS, CLIPS = (1.0, 1 / 4, 1 / 16), (10, 30, 100, 300, 1000), (0.1, 0.3, 1.0, 3.0)
PATHS = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
CONFIGURATIONS = list(itertools.product(SHARES, STEPS, CLIPS, PATHS))
# The inverse of the strength of the ridge penalty, for the two others.
STRENGTHS = [10.0**power for power in range(-4, 4)]


def scikit_learn(split, _epsilon, strength, _seed):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=strength, fit_intercept=False, max_iter=10_000)
    return model.fit(split.x, split.y).score(split.test_x, split.test_y)


def diffprivlib(split, epsilon, strength, seed):
    from diffprivlib.models import LogisticRegression

    # The intercept is one of the features, and within their norm.
    model = LogisticRegression(
        epsilon=epsilon, data_norm=split.norm, C=strength, fit_intercept=False, max_iter=1000, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(split.x, split.y).score(split.test_x, split.test_y)


def noise_multiplier(epsilon, delta, share, steps):
    """The least noise by the tighter of Opacus's accountants, with errors much smaller than ε."""
    from opacus.accountants.utils import get_noise_multiplier

    return get_noise_multiplier(
        target_epsilon=epsilon,
        target_delta=delta,
        sample_rate=share,
        steps=steps,
        accountant="prv",
        epsilon_tolerance=epsilon / 500,
        eps_error=epsilon / 100,
    )


def opacus(split, configuration, noise, seed):
    """DP-SGD of a linear model by Opacus: its gradients of each record, its clipping, its noise, its step."""
    import opacus
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    share, steps, clip, path = configuration
    x, y = torch.from_numpy(split.x), torch.from_numpy(split.y)
    width, loss = (1, binary_loss) if split.classes == 2 else (split.classes, torch.nn.functional.cross_entropy)
    linear = torch.nn.Linear(x.shape[1], width, bias=False)
    torch.nn.init.zeros_(linear.weight)
    model = opacus.GradSampleModule(linear)
    optimizer = opacus.optimizers.DPOptimizer(
        torch.optim.SGD(model.parameters(), path / (clip * steps)),
        noise_multiplier=noise,
        max_grad_norm=clip,
        expected_batch_size=share * len(x),
    )
    for _ in range(steps):
        batch = slice(None) if share == 1 else torch.rand(len(x)) < share
        optimizer.zero_grad()
        loss(model(x[batch]), y[batch]).backward()
        optimizer.step()
    return accuracy(split, linear.weight.detach().numpy().T[None])[0]


def binary_loss(scores, classes):
    import torch

    return torch.nn.functional.binary_cross_entropy_with_logits(scores[:, 0], classes.float())


def vectorised(split, configurations, noise, seed):
    """The same as `opacus` for many clips and paths at once, with one share, number of steps and noise, in NumPy.

    The gradient of a record is the outer product of its features and the derivatives of its scores, so clipping scales the derivatives.
    """
    generator = numpy.random.default_rng(seed)
    share, steps = configurations[0][:2]
    clips, paths = (numpy.array(part, numpy.float32)[:, None, None] for part in list(zip(*configurations))[2:])
    rates = paths / (clips * steps) / (share * split.records)
    width = 1 if split.classes == 2 else split.classes
    targets = split.y[:, None] if width == 1 else numpy.eye(width)[split.y]
    x, targets = split.x, targets.astype(numpy.float32)
    norms = numpy.linalg.norm(x, axis=1, keepdims=True)
    weights = numpy.zeros((len(configurations), x.shape[1], width), numpy.float32)
    for _ in range(steps):
        batch = slice(None) if share == 1 else generator.random(len(x)) < share
        rows = x[batch]
        derivatives = probabilities(rows @ weights)
        derivatives -= targets[batch]
        lengths = numpy.abs(derivatives) if width == 1 else numpy.sqrt(numpy.einsum("cij,cij->ci", derivatives, derivatives))[:, :, None]
        lengths *= norms[batch]
        derivatives *= numpy.minimum(1, clips / numpy.maximum(lengths, 1e-12))
        noises = generator.standard_normal(weights.shape, numpy.float32) * (noise * clips)
        weights -= rates * (rows.T @ derivatives + noises)
    return accuracy(split, weights)


def probabilities(scores):
    """In place, because this takes most of the time."""
    if scores.shape[2] == 1:
        numpy.exp(numpy.clip(numpy.negative(scores, out=scores), -50, 50, out=scores), out=scores)
        scores += 1
        return numpy.reciprocal(scores, out=scores)
    scores -= scores.max(2, keepdims=True)
    numpy.exp(scores, out=scores)
    scores /= scores.sum(2, keepdims=True)
    return scores


def accuracy(split, weights):
    """The share of test records whose class each model says; models × features × scores."""
    scores = split.test_x @ weights
    said = scores[:, :, 0] > 0 if scores.shape[2] == 1 else scores.argmax(2)
    return (said == split.test_y).mean(1)


def check_equal(split):
    """Without noise and with full batches nothing is random, so both must end at models that say the same; with noise, they must agree on average."""
    configuration = (1.0, 30, 1.0, 30.0)
    exact = [opacus(split, configuration, 0.0, 0), vectorised(split, [configuration], 0.0, 0)[0]]
    if abs(exact[0] - exact[1]) > 1.5 / len(split.test_y):
        raise AssertionError(f"Opacus and its vectorised form differ without noise: {exact}")
    configuration, noise, seeds = (1 / 4, 30, 1.0, 30.0), 8.0, range(40)
    ours = numpy.array([vectorised(split, [configuration], noise, seed)[0] for seed in seeds])
    theirs = numpy.array([opacus(split, configuration, noise, seed) for seed in seeds])
    error = math.sqrt((ours.var(ddof=1) + theirs.var(ddof=1)) / len(seeds))
    if abs(ours.mean() - theirs.mean()) > 4 * error:
        raise AssertionError(f"Opacus and its vectorised form differ: {theirs.mean()} and {ours.mean()} ± {error}")
