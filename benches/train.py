"""Private training against Opacus, jax_privacy, NumPy by hand and torch without privacy, side by side in one run.

60,000 records, batches of 512, gradients clipped to norm 1, Gaussian noise: logistic regression with 100 features,
softmax regression with 784 features and 10 classes, a network 784-256-10. Examples a second, the median of five
repetitions, which are interleaved, each in a process of its own; then our number over the peer's. A step of ours is all of it: a Poisson batch, the
gradients, noise from ChaCha20 and the update. The others do no more than this, and where it says so less: "no loader"
and jax_privacy have batches of fixed size that lie ready in memory, and nobody else's noise is cryptographic.

usage: train.py TRAIN_TIMES_EXECUTABLE
"""

import itertools
import statistics
import subprocess
import sys
import time
import warnings

import numpy

RECORDS, BATCH, CLIP, NOISE, RATE = 60_000, 512, 1.0, 1.0, 0.1
SETTINGS = {"logistic": (100, 2), "softmax": (784, 10), "network": (784, 10)}
HIDDEN = 256
REPETITIONS, SECONDS = 5, 1.0


def data(setting):
    """Features of norm 1 at most, and classes."""
    features, classes = SETTINGS[setting]
    generator = numpy.random.default_rng(1)
    x = generator.uniform(-0.5, 0.5, (RECORDS, features)).astype(numpy.float32)
    x /= numpy.maximum(1, numpy.linalg.norm(x, axis=1, keepdims=True))
    return x, generator.integers(0, classes, RECORDS)


def ready_batches(x, y):
    """Batches that lie in memory, without end."""
    generator = numpy.random.default_rng(2)
    drawn = [generator.integers(0, RECORDS, BATCH) for _ in range(64)]
    return itertools.cycle([(x[records], y[records]) for records in drawn])


def numpy_by_hand(setting):
    """Linear models only: the gradient of a record is c ⊗ x, so that clipping scales c."""
    if setting == "network":
        return None
    x, y = data(setting)
    generator = numpy.random.default_rng(3)
    width = 1 if setting == "logistic" else SETTINGS[setting][1]
    weights = numpy.zeros((width, x.shape[1]), numpy.float32)

    def step():
        nonlocal weights
        size = generator.binomial(RECORDS, BATCH / RECORDS)
        records = generator.choice(RECORDS, size, replace=False, shuffle=False)
        rows, targets = x[records], y[records]
        scores = rows @ weights.T
        if width == 1:
            derivatives = 1 / (1 + numpy.exp(-scores)) - targets[:, None].astype(numpy.float32)
        else:
            derivatives = numpy.exp(scores - scores.max(axis=1, keepdims=True))
            derivatives /= derivatives.sum(axis=1, keepdims=True)
            derivatives[numpy.arange(len(targets)), targets] -= 1
        squares = numpy.einsum("ij,ij->i", derivatives, derivatives) * numpy.einsum("ij,ij->i", rows, rows)
        derivatives *= numpy.minimum(1, CLIP / numpy.sqrt(squares + 1e-12))[:, None]
        noise = generator.standard_normal(weights.shape, numpy.float32)
        weights = weights - RATE / BATCH * (derivatives.T @ rows + NOISE * CLIP * noise)
        return len(records)

    return step


def torch_parts(setting):
    import torch

    features, classes = SETTINGS[setting]
    x, y = (torch.from_numpy(part) for part in data(setting))
    if setting == "logistic":
        model = torch.nn.Sequential(torch.nn.Linear(features, 1, bias=False), torch.nn.Flatten(0))
        return x, y.float(), model, torch.nn.BCEWithLogitsLoss()
    if setting == "softmax":
        return x, y, torch.nn.Linear(features, classes, bias=False), torch.nn.CrossEntropyLoss()
    layers = [torch.nn.Linear(features, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, classes)]
    return x, y, torch.nn.Sequential(*layers), torch.nn.CrossEntropyLoss()


def torch_step(model, optimizer, criterion, batches):
    def step():
        rows, targets = next(batches)
        optimizer.zero_grad()
        criterion(model(rows), targets).backward()
        optimizer.step()
        return len(rows)

    return step


def torch_without_privacy(setting):
    import torch

    x, y, model, criterion = torch_parts(setting)
    return torch_step(model, torch.optim.SGD(model.parameters(), RATE), criterion, ready_batches(x, y))


def opacus_without_loader(setting):
    import opacus
    import torch

    x, y, model, criterion = torch_parts(setting)
    model = opacus.GradSampleModule(model)
    optimizer = opacus.optimizers.DPOptimizer(
        torch.optim.SGD(model.parameters(), RATE),
        noise_multiplier=NOISE,
        max_grad_norm=CLIP,
        expected_batch_size=BATCH,
    )
    return torch_step(model, optimizer, criterion, ready_batches(x, y))


def opacus_with_loader(setting, mode):
    import opacus
    import torch

    x, y, model, criterion = torch_parts(setting)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=BATCH)
    parts = opacus.PrivacyEngine(accountant="rdp").make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), RATE),
        criterion=criterion,
        data_loader=loader,
        noise_multiplier=NOISE,
        max_grad_norm=CLIP,
        grad_sample_mode=mode,
    )
    model, optimizer, loader = parts[0], parts[1], parts[-1]
    criterion = parts[2] if len(parts) == 4 else criterion
    batches = itertools.chain.from_iterable(itertools.repeat(loader))
    return torch_step(model, optimizer, criterion, batches)


def jax_privacy_jitted(setting):
    import jax
    import jax.numpy as jnp
    import jax_privacy

    x, y = data(setting)
    features, classes = SETTINGS[setting]

    def scores(weights, row):
        if setting == "network":
            (first, offsets), (last, last_offsets) = weights
            return jax.nn.relu(row @ first + offsets) @ last + last_offsets
        return row @ weights

    def loss(weights, batch):
        rows, targets = batch
        z = scores(weights, rows)
        if setting == "logistic":
            return jnp.mean(jnp.logaddexp(0, z) - targets * z)
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(z), targets[:, None], axis=1))

    shapes = {"logistic": (features,), "softmax": (features, classes)}
    if setting == "network":
        generator = numpy.random.default_rng(4)
        layers = [(features, HIDDEN), (HIDDEN, classes)]
        weights = [(jnp.asarray(generator.normal(0, 0.05, s), jnp.float32), jnp.zeros(s[1])) for s in layers]
    else:
        weights = jnp.zeros(shapes[setting])
    gradient = jax_privacy.clipped_grad(loss, l2_clip_norm=CLIP)
    privatizer = jax_privacy.noise_addition.gaussian_privatizer(stddev=NOISE * CLIP, prng_key=jax.random.key(5))

    @jax.jit
    def update(weights, state, batch):
        noisy, state = privatizer.update(gradient(weights, batch), state)
        return jax.tree.map(lambda w, g: w - RATE / BATCH * g, weights, noisy), state

    state = privatizer.init(weights)
    batches = ready_batches(x, y.astype(numpy.int32))
    batches = itertools.cycle([jax.tree.map(jnp.asarray, next(batches)) for _ in range(64)])

    def step():
        nonlocal weights, state
        weights, state = update(weights, state, next(batches))
        jax.block_until_ready(weights)
        return BATCH

    return step


PEERS = {
    "NumPy by hand": numpy_by_hand,
    "jax_privacy, jitted, no loader": jax_privacy_jitted,
    "Opacus, no loader": opacus_without_loader,
    "Opacus": lambda setting: opacus_with_loader(setting, "hooks"),
    "Opacus, ghost clipping": lambda setting: opacus_with_loader(setting, "ghost"),
    "torch, not private, no loader": torch_without_privacy,
}


def rate(step, seconds):
    """Examples a second."""
    examples, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        examples += step()
    return examples / passed


def alone(name, setting):
    """Prints a peer's examples a second; nothing if it does not have the setting."""
    warnings.filterwarnings("ignore")
    step = PEERS[name](setting)
    if step is not None:
        rate(step, SECONDS / 2)  # Compiles, and fills caches.
        print(rate(step, SECONDS))


def peer(name, setting):
    """A peer's examples a second, in a process of its own: threads of one that wait for work would slow the others down."""
    done = subprocess.run([sys.executable, __file__, "--peer", name, setting], capture_output=True, text=True)
    if done.returncode != 0:  # A peer that fails is not our failure.
        why = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        print(f"{name} is absent from {setting}: {why[0]}"[:200], file=sys.stderr)
        return None
    return float(done.stdout) if done.stdout.strip() else None


def ours(executable, what):
    return subprocess.run([executable, what], check=True, capture_output=True, text=True).stdout.strip()


def measured(executable, setting):
    """The median of each contender; ours is the one without a name."""
    rates = {}
    for _ in range(REPETITIONS):
        rates.setdefault("", []).append(float(ours(executable, setting)))
        for name in PEERS:
            value = peer(name, setting)
            if value is not None:
                rates.setdefault(name, []).append(value)
    return {name: statistics.median(values) for name, values in rates.items()}


def main(executable):
    table = {setting: measured(executable, setting) for setting in SETTINGS}
    print(f"{'examples a second (ours over it)':34}" + "".join(f"{setting:>24}" for setting in SETTINGS))
    print(f"{'dobrushin':34}" + "".join(f"{table[setting]['']:>16,.0f}{'':8}" for setting in SETTINGS))
    for name in PEERS:
        cells = []
        for setting in SETTINGS:
            value = table[setting].get(name)
            cells.append(f"{'–':>16}{'':8}" if value is None else f"{value:>16,.0f}{table[setting][''] / value:>7.1f}×")
        print(f"{name:34}" + "".join(cells))
    print("the machine at best: " + ours(executable, "peaks").replace("\n", ", "))


if __name__ == "__main__":
    if sys.argv[1] == "--peer":
        alone(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
