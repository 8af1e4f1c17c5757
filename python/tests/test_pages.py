"""The Python of the documentation runs, and prints what the pages say that it prints."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "python").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n?^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
# A page may need a package that is only there if somebody wants it.
NEEDS = {
    "opacus": "opacus",
    "flower": "flwr",
    "accountants": "jax_privacy",
    "sklearn": "sklearn",
    "spark": "pyspark",
    "training": "pandas",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = NEEDS.get(page.stem)
    if needed and importlib.util.find_spec(needed) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{needed} is not installed")
        pytest.skip(f"{needed} is not installed")
    if needed == "pyspark" and shutil.which("java") is None and os.environ.get("CI") != "true":
        pytest.skip("there is no java")
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks, "a page about Python shows some"
    # Examples are where a reader has them: in a checkout.
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    variables: dict[str, Any] = {"__name__": "__main__"}
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(page), "exec"), variables)  # noqa: S102
        if expected:
            assert printed.getvalue().rstrip() == expected.rstrip()
