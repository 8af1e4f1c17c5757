"""What can go wrong.

Every exception that dobrushin raises on purpose is one of these:

- :class:`InvalidInputError` (a ``ValueError``): something that you gave cannot be used. The message names it, and
  ``help`` says what is accepted.
- :class:`NoGuaranteeError` (a ``RuntimeError``): nothing is wrong, but the answer is "no".
- :class:`OverBudgetError` (a ``RuntimeError``): nothing is wrong, but people would spend more than they may.
- :class:`InternalError` (a ``RuntimeError``): a defect of dobrushin.

>>> import dobrushin as db
>>> try:
...     db.account(db.Run(algorithm="dp-sgd"), delta=-1)
... except db.InvalidInputError as error:
...     print(error)
delta: delta is -1, but it must be between 0 and 1
help: see help(dobrushin) for what delta means
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["DobrushinError", "InternalError", "InvalidInputError", "NoGuaranteeError", "OverBudgetError"]


class DobrushinError(Exception):
    """The common base of all exceptions of dobrushin."""

    def __init__(self, message: str, help: str | None = None) -> None:  # noqa: A002
        super().__init__(message, help)
        self.message = message
        """What is wrong."""
        self.help = help
        """What would mend it, if that is known."""

    def __str__(self) -> str:
        return self.message if self.help is None else f"{self.message}\nhelp: {self.help}"


class InvalidInputError(DobrushinError, ValueError):
    """Something that was given cannot be used."""


class NoGuaranteeError(DobrushinError, RuntimeError):
    """Nothing is wrong, but the answer is "no": there is no guarantee, or no value meets the target."""


class OverBudgetError(DobrushinError, RuntimeError):
    """Nothing is wrong, but people would spend more than their budgets in a ledger. Nothing was changed."""

    def __init__(self, message: str, help: str | None = None, people: Sequence[str] = (), count: int = 0) -> None:  # noqa: A002
        super().__init__(message, help)
        self.people = list(people)
        """Who they are, by their names; the first thousand, if there are more."""
        self.count = count
        """How many they are."""


class InternalError(DobrushinError, RuntimeError):
    """A defect of dobrushin. Nothing that was computed may be relied upon."""
