"""Results as a document and as a page."""

from __future__ import annotations

import json
from typing import Any, Dict


class Result:
    """A result of the library: a document, and a page that shows it.

    ``data`` is the document as dicts and lists, with exact numbers as texts. ``str()`` is the output of the program, and a
    notebook shows the same content as tables.
    """

    def __init__(self, shown: Any) -> None:
        self._shown = shown

    def to_json(self, *, decimals: bool = False) -> str:
        """The document, as the program writes it; with ``decimals``, each exact number is also given as a decimal."""
        return self._shown.with_decimals() if decimals else self._shown.to_json()

    @property
    def data(self) -> Dict[str, Any]:
        """The document as dicts and lists."""
        return json.loads(self.to_json())

    def to_csv(self) -> str:
        """The tables as CSV, for spreadsheets."""
        return self._shown.render("csv")

    def to_markdown(self) -> str:
        """The page as Markdown."""
        return self._shown.render("markdown")

    def to_latex(self) -> str:
        """The tables as LaTeX."""
        return self._shown.render("latex")

    def __str__(self) -> str:
        return self._shown.render("text")

    def _repr_html_(self) -> str:
        return self._shown.render("html")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"
