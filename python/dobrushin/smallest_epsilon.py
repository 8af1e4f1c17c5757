"""The smallest ε ≥ 0 at which two laws are (ε, δ)-indistinguishable: the inverse of the hockey-stick divergence.

Every argument may be an array. The answer is the upper end of a certified enclosure; with ``bounds=True`` it is both ends.

>>> import dobrushin as db
>>> epsilon = db.smallest_epsilon.gaussian(1.0, 1.0, delta=1e-5)
>>> print(f"{epsilon:.4f}")
4.3772
>>> db.hockey_stick.gaussian(1.0, 1.0, epsilon=epsilon) <= 1e-5
True
"""

from __future__ import annotations

from typing import Any, overload

from dobrushin import _core
from dobrushin._numbers import Law, Number, Numbers

__all__ = ["discrete", "gaussian", "laplace"]


@overload
def gaussian(distance: Number, sigma: Number, *, delta: Number) -> float: ...
@overload
def gaussian(distance: Numbers, sigma: Numbers, *, delta: Numbers, bounds: bool = False) -> Any: ...
def gaussian(distance: Numbers, sigma: Numbers, *, delta: Numbers, bounds: bool = False) -> Any:
    """The smallest ε of two Gaussian laws with means ``distance`` apart and standard deviation ``sigma``."""
    return _core.smallest_epsilon("gaussian", distance, sigma, delta, bounds=bool(bounds))


@overload
def laplace(distance: Number, scale: Number, *, delta: Number) -> float: ...
@overload
def laplace(distance: Numbers, scale: Numbers, *, delta: Numbers, bounds: bool = False) -> Any: ...
def laplace(distance: Numbers, scale: Numbers, *, delta: Numbers, bounds: bool = False) -> Any:
    """The smallest ε of two Laplace laws with centres ``distance`` apart.

    >>> laplace(1.0, 2.0, delta=0.0)
    0.5
    """
    return _core.smallest_epsilon("laplace", distance, scale, delta, bounds=bool(bounds))


@overload
def discrete(p: Law, q: Law, *, delta: Number) -> float: ...
@overload
def discrete(p: Law, q: Law, *, delta: Numbers, bounds: bool = False) -> Any: ...
def discrete(p: Law, q: Law, *, delta: Numbers, bounds: bool = False) -> Any:
    """The smallest ε with E_γ(P‖Q) ≤ δ; for privacy, take the larger of both directions.

    >>> print(f"{discrete([0.75, 0.25], [0.25, 0.75], delta=0.0):.6f}")
    1.098612
    """
    return _core.Laws(p, q).smallest_epsilon(delta, bounds=bool(bounds))
