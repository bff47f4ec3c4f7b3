"""Downloads that are made in the browser from what the page was sent.

Streamlit serves the files of its own button at addresses that answer without a sign-in. These files have none.
"""

from functools import cache
from typing import Any

import polars as pl
from streamlit.components.v2 import component
from vetl.core.text import harmless

_CSS = """
button {
    font: inherit; color: inherit; background: transparent; cursor: pointer; min-height: 2.5rem;
    padding: 0.25rem 0.75rem; border: 1px solid var(--st-border-color, #8888); border-radius: 0.5rem;
}
button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
@media print { button { display: none; } }
"""
_JS = """
export default function({ data, parentElement }) {
    const button = parentElement.querySelector("button");
    button.onclick = () => {
        const address = URL.createObjectURL(new Blob(["\\ufeff", data.csv], { type: "text/csv;charset=utf-8" }));
        const link = document.createElement("a");
        link.href = address;
        link.download = data.name;
        link.click();
        setTimeout(() => URL.revokeObjectURL(address), 1000);
    };
}
"""


@cache
def _button() -> Any:  # noqa: ANN401 - Streamlit's own type
    """Return the button; a second one by this name would be warned of."""
    html = '<button type="button">Download CSV</button>'
    return component("vetl_download", html=html, css=_CSS, js=_JS)


def download(table: pl.DataFrame, name: str) -> None:
    """Show a button that saves the table as a CSV which a spreadsheet opens without running anything in it."""
    data = {"name": f"{name}.csv", "csv": guarded(table).write_csv()}
    _button()(key=f"download-{name}", data=data, height="content")


def guarded(table: pl.DataFrame) -> pl.DataFrame:
    """Return the same rows, with an apostrophe before text that a spreadsheet would run."""
    texts = [name for name, kind in table.schema.items() if kind == pl.String]
    return table.with_columns(pl.col(name).map_elements(harmless, return_dtype=pl.String) for name in texts)
