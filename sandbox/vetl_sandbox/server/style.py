"""The style of the platform's pages: one sheet that loads nothing."""

from html import escape
from typing import Final

_SHEET: Final = """
:root{--ink:#1c2733;--soft:#5b6b7b;--line:#dfe5eb;--back:#f6f8fa;--card:#fff;--mark:#0b6e6e;--code:#eef3f3}
@media(prefers-color-scheme:dark){:root{--ink:#e3e9ef;--soft:#95a4b3;--line:#2b3947;--back:#10171f;--card:#18222c;
--mark:#5cc6c0;--code:#213039}}
*{box-sizing:border-box}html{scroll-behavior:smooth}
body{margin:0;font:15px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--back)}
header{background:var(--card);border-bottom:1px solid var(--line);padding:1.6rem 2rem}
header>*{max-width:72rem;margin-left:auto;margin-right:auto}
header h1{margin-top:0;margin-bottom:.3rem;font-size:1.5rem}
header p{margin-top:0;margin-bottom:0;color:var(--soft)}
header nav{margin-top:.8rem;display:flex;gap:1.2rem}
a{color:var(--mark);text-decoration:none}a:hover{text-decoration:underline}
main{max-width:76rem;margin:0 auto;padding:1.5rem 2rem 4rem}h2{font-size:1.15rem;margin:2.2rem 0 .8rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;margin:.5rem 0}
.card{padding:1rem 1.2rem;overflow-x:auto}
table{border-collapse:collapse;width:100%}
th{text-align:left;color:var(--soft);font-weight:600;font-size:.85rem}
td,th{padding:.35rem .9rem .35rem 0;border-bottom:1px solid var(--line);vertical-align:top}
tr:last-child td{border-bottom:0}.n{text-align:right;font-variant-numeric:tabular-nums}
code,pre{font:13px/1.5 ui-monospace,monospace;background:var(--code);border-radius:4px}code{padding:.1rem .35rem}
pre{padding:.9rem 1.1rem;overflow-x:auto;margin:.5rem 0}
.tiles{display:flex;gap:.8rem;flex-wrap:wrap}.tile{background:var(--card);
border:1px solid var(--line);border-radius:8px;padding:.7rem 1.2rem;min-width:9rem}
.tile b{display:block;font-size:1.3rem}
"""


def page(title: str, about: str, links: dict[str, str], main: str) -> str:
    """Return a whole page; `about` and `main` are HTML."""
    content = "".join(f'<a href="{escape(target)}">{escape(name)}</a>' for name, target in links.items())
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{_SHEET}</style></head><body>"
        f"<header><h1>{escape(title)}</h1><p>{about}</p><nav>{content}</nav></header><main>{main}</main></body></html>"
    )


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Return a table; cells are HTML, a cell that begins with a tab is a number."""
    head = "".join(f'<th class="n">{name[1:]}</th>' if name[:1] == "\t" else f"<th>{name}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell(content: str) -> str:
    return f'<td class="n">{content[1:]}</td>' if content[:1] == "\t" else f"<td>{content}</td>"
