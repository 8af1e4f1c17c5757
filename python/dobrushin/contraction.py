"""How much noise makes the points of a bounded set alike: contraction coefficients.

Noise that is added to a point of a set leaves at most η_γ of any E_γ, and at most η_f of the f-divergence with the name
``f``: ``"tv"`` is Dobrushin's coefficient; ``"kl"`` and ``"chi2"`` have the same one. Give one of ``epsilon``, ``gamma``
and ``f``. Other arguments may be arrays. The answer is the upper end of a certified enclosure; with ``bounds=True`` it is
both ends.

>>> import dobrushin as db
>>> print(f"{db.contraction.gaussian(1.0, 3.731, f='kl'):.4f}")
0.0176
"""

from __future__ import annotations

from typing import Any, overload

from dobrushin import _core
from dobrushin._numbers import Number, Numbers, word

__all__ = ["gaussian", "laplace"]


@overload
def gaussian(
    length: Number, sigma: Number, *, epsilon: Number | None = None, gamma: Number | None = None, f: str | None = None
) -> float: ...
@overload
def gaussian(
    length: Numbers, sigma: Numbers, *, epsilon: Numbers | None = None, gamma: Numbers | None = None, f: str | None = None, bounds: bool = False
) -> Any: ...
def gaussian(
    length: Numbers, sigma: Numbers, *, epsilon: Numbers | None = None, gamma: Numbers | None = None, f: str | None = None, bounds: bool = False
) -> Any:
    """The contraction by Gaussian noise, on a set of this diameter in any dimension."""
    return _core.contraction("gaussian", length, sigma, epsilon=epsilon, gamma=gamma, f=word("f", f), bounds=bool(bounds))


@overload
def laplace(
    length: Number, scale: Number, *, epsilon: Number | None = None, gamma: Number | None = None, f: str | None = None
) -> float: ...
@overload
def laplace(
    length: Numbers, scale: Numbers, *, epsilon: Numbers | None = None, gamma: Numbers | None = None, f: str | None = None, bounds: bool = False
) -> Any: ...
def laplace(
    length: Numbers, scale: Numbers, *, epsilon: Numbers | None = None, gamma: Numbers | None = None, f: str | None = None, bounds: bool = False
) -> Any:
    """The contraction by Laplace noise, on an interval of this length."""
    return _core.contraction("laplace", length, scale, epsilon=epsilon, gamma=gamma, f=word("f", f), bounds=bool(bounds))
