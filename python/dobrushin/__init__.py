"""How private is the last iterate?

dobrushin computes certified privacy guarantees of noisy iterative algorithms that keep their intermediate states hidden
and release only the last iterate. Other accountants assume that every step is published.

>>> import dobrushin as db
>>> run = db.Run(algorithm="dp-sgd", records=60_000, batch_size=256, epochs=20, order="poisson",
...              neighbours="add-or-remove-one", clip_norm=1.0, noise_multiplier=1.0)
>>> print(f"epsilon = {db.account(run, delta=1e-5).epsilon:.3f}")
epsilon = 1.569

- :class:`Run` says what was run; :func:`account` says how private it is, :func:`calibrate` how much noise a target needs,
  :func:`curve` how ε depends on a parameter, :func:`plan` which run a budget buys; :func:`verify` checks certificates, and
  :func:`total` adds them up.
- :func:`worst_case` says how much of a guarantee is real. :func:`audit` attacks a program that trains, and
  :func:`audit_scores` takes the scores of your own attack: they say what is proved, and whether it contradicts what is claimed.
- :func:`train` trains private models, and ``dobrushin.sklearn`` has them as estimators of scikit-learn. :func:`forget`
  deletes records from them, if somebody asks for it.
- :class:`Ledger` says what each person has spent over all releases, and refuses what would exceed somebody's budget.
- ``python -m dobrushin`` is the program; its guide is in ``docs/``.
"""

from __future__ import annotations

from dobrushin import contraction, divergence, hockey_stick, local, renyi, smallest_epsilon
from dobrushin._core import __version__, theta
from dobrushin.auditing import Attack, Audit, WorstCase, audit, audit_scores, worst_case
from dobrushin.chain import Branch, Chain, Step
from dobrushin.channel import Channel
from dobrushin.errors import DobrushinError, InternalError, InvalidInputError, NoGuaranteeError, OverBudgetError
from dobrushin.forgetting import Forgotten, forget
from dobrushin.ledger import Ledger, Reservation
from dobrushin.questions import account, calibrate, curve, explain, plan, total, verify
from dobrushin.report import (
    Analysis,
    Calibration,
    Certificate,
    Curve,
    Guarantee,
    Interval,
    Plan,
    Report,
    Total,
    Verification,
)
from dobrushin.run import Run
from dobrushin.training import Trained, Training, load_model, train

__all__ = [
    "Analysis",
    "Attack",
    "Audit",
    "Branch",
    "Calibration",
    "Certificate",
    "Chain",
    "Channel",
    "Curve",
    "DobrushinError",
    "Forgotten",
    "Guarantee",
    "InternalError",
    "Interval",
    "InvalidInputError",
    "Ledger",
    "NoGuaranteeError",
    "OverBudgetError",
    "Plan",
    "Report",
    "Reservation",
    "Run",
    "Step",
    "Total",
    "Trained",
    "Training",
    "Verification",
    "WorstCase",
    "__version__",
    "account",
    "audit",
    "audit_scores",
    "calibrate",
    "contraction",
    "curve",
    "divergence",
    "explain",
    "forget",
    "hockey_stick",
    "load_model",
    "local",
    "plan",
    "renyi",
    "smallest_epsilon",
    "theta",
    "total",
    "train",
    "verify",
    "worst_case",
]
