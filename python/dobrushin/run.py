"""What was run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from dobrushin import _core
from dobrushin.errors import InvalidInputError

if TYPE_CHECKING:
    from dobrushin.chain import Branch

__all__ = ["Run", "RunLike"]


class Run:
    """What was run: an algorithm, its numbers, and what is known about the loss and the domain.

    A run is given by the path of a run file, by a dict of its sections, or by keyword arguments, which are the keys of
    run files in snake_case. Keyword arguments also replace values of a file or dict. ``None`` means that a key is not
    given, and nothing is assumed about what is not given.

    ``run``: ``algorithm`` ("dp-sgd", "pnsgd", "gradient-descent", "online", "chain", "composition"), ``records``,
    ``steps`` (or ``epochs``, or ``steps="any"``), ``batch_size`` (or ``sampling_probability``), ``order`` ("poisson",
    "full", "shuffled", "cyclic", "once", "allocation", "without-replacement"), ``incomplete_batch``, ``release``,
    ``neighbours`` ("replace-one", "add-or-remove-one", "zero-out"), ``record``, ``public_steps``, ``tasks``.
    ``update``: ``learning_rate``, ``clip_norm`` (or ``lipschitz``), ``noise``, ``noise_multiplier`` (or
    ``gradient_noise``, or ``iterate_noise``), ``weight_decay``, ``divide_by``.
    ``loss``: ``convex``, ``smoothness``, ``strong_convexity``, ``generalised_linear``.
    ``domain``: ``diameter``, ``dimension``.
    ``forget``: a dict of ``steps`` and ``records``, each a number or a list with one for each request to delete records.
    ``target``: ``delta`` or ``epsilon``.
    Lists of tables (``mechanism``, ``step``, ``task``) and whole sections (``model``, …) are given as such.

    >>> import dobrushin as db
    >>> run = db.Run(algorithm="dp-sgd", records=60_000, batch_size=256, steps=1000, order="poisson",
    ...              neighbours="add-or-remove-one", clip_norm=1.0, noise_multiplier=1.0)
    >>> run.to_dict()["run"]["steps"]
    1000
    >>> print(run.replace(steps=2000).to_toml().splitlines()[0])
    [run]

    A record is deleted after training, and 60 clean steps follow:

    >>> run = db.Run(algorithm="gradient-descent", records=1000, steps=1000, release="last", neighbours="zero-out",
    ...              learning_rate=0.1, lipschitz=2.0, noise_multiplier=20.0, convex=True, smoothness=1.0,
    ...              strong_convexity=0.5, delta=1e-5, forget={"records": 1, "steps": 60})
    >>> db.account(run).epsilon < 0.05
    True
    """

    __slots__ = ("_file",)

    def __init__(self, source: RunLike | None = None, /, **keys: Any) -> None:
        self._file = _file_of(source).with_keys(keys)

    @classmethod
    def from_toml(cls, text: str, /) -> Run:
        """The run that the text of a run file describes.

        >>> Run.from_toml('[run]\\nalgorithm = "gradient-descent"').to_dict()
        {'run': {'algorithm': 'gradient-descent'}}
        """
        if not isinstance(text, str):
            raise InvalidInputError(f"the text is a {type(text).__name__}", "give the text of a run file")
        return cls._of(_core.RunFile.parse(text))

    @classmethod
    def _of(cls, file: _core.RunFile) -> Run:
        run = cls.__new__(cls)
        run._file = file
        return run

    def replace(self, **keys: Any) -> Run:
        """The same run with other values.

        A key also replaces those that it excludes, such as another noise.
        """
        return self._of(self._file.with_keys(keys))

    def check(self) -> Run:
        """The same run, if it can be accounted for; an :class:`~dobrushin.InvalidInputError` says what is wrong.

        >>> Run(algorithm="dp-sgd", records=100).check()
        Traceback (most recent call last):
        ...
        dobrushin.errors.InvalidInputError: ...
        """
        self._file.check()
        return self

    def self_contained(self) -> Run:
        """The same run with the content of every file that it names, so that it means the same in every folder."""
        return self._of(self._file.self_contained()) if self._file.names_files() else self

    def to_dict(self) -> dict[str, Any]:
        """The sections of the run file."""
        sections: dict[str, Any] = json.loads(self._file.json())
        return sections

    def to_toml(self) -> str:
        """The text of a run file that says the same, for ``dobrushin account run.toml``."""
        return self._file.toml()

    def chains(self) -> list[list[Branch]]:
        """The chains that the run amounts to, for each record that may be the least private.

        Every number is on the private side, so each chain can be accounted for by itself, if perhaps less tightly than
        the run, about which more is known. A run without hidden states raises :class:`~dobrushin.NoGuaranteeError`.

        >>> run = Run(algorithm="pnsgd", records=100, learning_rate=0.1, lipschitz=1.0, gradient_noise=4.0,
        ...           convex=True, smoothness=1.0, release="last")
        >>> [[branch]] = run.chains()
        >>> branch.chain.steps[-1].participation, round(branch.chain.steps[-1].displacement, 6)
        ('always', 0.2)
        """
        from dobrushin.chain import branches

        return branches(_core.chains(self._file))

    def __repr__(self) -> str:
        return f"Run({self.to_dict()!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self._file.json())

    def __reduce__(self) -> tuple[type[Run], tuple[dict[str, Any]]]:
        return Run, (self.self_contained().to_dict(),)


RunLike: TypeAlias = Run | Mapping[str, Any] | str | os.PathLike[str]
"""A run, a dict of sections, or the path of a run file."""


def _file_of(source: RunLike | None) -> _core.RunFile:
    match source:
        case None:
            return _core.RunFile.of_sections({})
        case Run():
            return source._file
        case Mapping():
            return _core.RunFile.of_sections(source)
        case str() | os.PathLike():
            return _core.RunFile.read(as_path("the run", source))
    raise InvalidInputError(
        f"the run is a {type(source).__name__}", "give a dobrushin.Run, a dict of sections, or the path of a run file"
    )


def as_path(name: str, given: str | os.PathLike[str]) -> str:
    """The path of a file, for the argument of this name."""
    path = given if isinstance(given, str) else os.fspath(given) if isinstance(given, os.PathLike) else None
    if not isinstance(path, str) or "\0" in path:
        raise InvalidInputError(f"{name} is not the path of a file: {given!r}", "give the path as text")
    # The program takes "-" for standard input, which belongs to the program that calls this.
    return os.path.join(os.curdir, path) if path == "-" else path


def as_run(run: RunLike, keys: Mapping[str, Any] | None = None) -> Run:
    """A run, whatever describes it."""
    return run if isinstance(run, Run) and not keys else Run(run, **(keys or {}))
