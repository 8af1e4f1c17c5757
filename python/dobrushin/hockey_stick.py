"""The hockey-stick divergence E_γ, with γ = e^ε: the δ at which two laws are (ε, δ)-indistinguishable.

Give either ``epsilon`` or ``gamma``, which may be below 1. Arguments may be arrays, which are combined by NumPy's rules,
and read without a copy if they are of ``float64``. The answer is the upper end of a certified enclosure; with
``bounds=True`` it is both ends.

>>> import dobrushin as db
>>> print(f"{db.hockey_stick.gaussian(1.0, 2.0, epsilon=1.0):.6f}")
0.006830
>>> db.hockey_stick.laplace(1.0, 2.0, epsilon=0.5)
0.0
"""

from __future__ import annotations

from typing import Any, overload

from dobrushin import _core
from dobrushin._numbers import Law, Number, Numbers

__all__ = ["discrete", "gaussian", "laplace"]


@overload
def gaussian(
    distance: Number, sigma: Number, *, epsilon: Number | None = None, gamma: Number | None = None
) -> float: ...
@overload
def gaussian(
    distance: Numbers, sigma: Numbers, *, epsilon: Numbers | None = None, gamma: Numbers | None = None, bounds: bool = False
) -> Any: ...
def gaussian(
    distance: Numbers, sigma: Numbers, *, epsilon: Numbers | None = None, gamma: Numbers | None = None, bounds: bool = False
) -> Any:
    """E_γ of two Gaussian laws with means ``distance`` apart and standard deviation ``sigma``, in any dimension.

    >>> import numpy as np
    >>> gaussian(1.0, np.array([1.0, 2.0]), epsilon=1.0).round(6)
    array([0.126937, 0.00683 ])
    """
    return _core.hockey_stick("gaussian", distance, sigma, epsilon=epsilon, gamma=gamma, bounds=bool(bounds))


@overload
def laplace(
    distance: Number, scale: Number, *, epsilon: Number | None = None, gamma: Number | None = None
) -> float: ...
@overload
def laplace(
    distance: Numbers, scale: Numbers, *, epsilon: Numbers | None = None, gamma: Numbers | None = None, bounds: bool = False
) -> Any: ...
def laplace(
    distance: Numbers, scale: Numbers, *, epsilon: Numbers | None = None, gamma: Numbers | None = None, bounds: bool = False
) -> Any:
    """E_γ of two Laplace laws with centres ``distance`` apart.

    >>> print(f"{laplace(1.0, 1.0, gamma=1.0):.6f}")
    0.393469
    """
    return _core.hockey_stick("laplace", distance, scale, epsilon=epsilon, gamma=gamma, bounds=bool(bounds))


@overload
def discrete(p: Law, q: Law, *, epsilon: Number | None = None, gamma: Number | None = None) -> float: ...
@overload
def discrete(
    p: Law, q: Law, *, epsilon: Numbers | None = None, gamma: Numbers | None = None, bounds: bool = False
) -> Any: ...
def discrete(
    p: Law, q: Law, *, epsilon: Numbers | None = None, gamma: Numbers | None = None, bounds: bool = False
) -> Any:
    """E_γ of P from Q on finitely many outcomes, from their probabilities.

    >>> discrete([0.75, 0.25], [0.25, 0.75], gamma=2.0)
    0.25
    """
    return _core.Laws(p, q).hockey_stick(epsilon=epsilon, gamma=gamma, bounds=bool(bounds))
