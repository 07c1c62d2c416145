"""Results with a document and a page."""

from __future__ import annotations

import json
from typing import Any, Dict


class Result:
    """Something that the library has computed: a document, and a page that shows it.

    ``data`` is the document as dicts and lists, with exact numbers as texts; ``str()`` is what the program prints, and a
    notebook shows the same as tables.
    """

    def __init__(self, shown: Any) -> None:
        self._shown = shown

    def to_json(self, *, decimals: bool = False) -> str:
        """The document, as the program writes it, with a decimal beside each exact number where asked."""
        return self._shown.with_decimals() if decimals else self._shown.to_json()

    @property
    def data(self) -> Dict[str, Any]:
        """The document as dicts and lists."""
        return json.loads(self.to_json())

    def to_csv(self) -> str:
        """The tables for spreadsheets."""
        return self._shown.render("csv")

    def to_markdown(self) -> str:
        """The page in Markdown."""
        return self._shown.render("markdown")

    def to_latex(self) -> str:
        """The tables in LaTeX."""
        return self._shown.render("latex")

    def __str__(self) -> str:
        return self._shown.render("text")

    def _repr_html_(self) -> str:
        return self._shown.render("html")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"
