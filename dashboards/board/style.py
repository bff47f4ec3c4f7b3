"""Styles that Streamlit lacks: print, and no motion for users who asked for none."""

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<rect width="32" height="32" rx="7" fill="#0b6b5d"/>'
    '<path d="M7 9l9 15 9-15" fill="none" stroke="#fff" stroke-width="4" stroke-linejoin="round"/></svg>'
)
"""The icon of the browser's tab; one of Streamlit's own names would be fetched from the Web."""

STYLE = """
<style>
[data-testid="stMainBlockContainer"] { padding: 2.5rem 2rem 4rem; }
[class*="st-key-figures-"] {
  display: grid !important; grid-template-columns: repeat(auto-fit, minmax(8.75rem, 1fr)); gap: 0.75rem;
}
[class*="st-key-figures-"] > div { width: auto !important; }
[class*="st-key-figures-"] > div, [class*="st-key-figures-"] > div > div { height: 100%; }
.st-key-figures-explore [data-testid="stVerticalBlock"] { padding: 0.5rem 0.75rem; gap: 0.25rem; }
.st-key-figures-explore button { text-align: left; justify-content: left; min-height: 0; }
.st-key-figures-explore [data-testid="stMetricValue"] { font-size: 1.5rem; }
[data-testid="stMetricLabel"] * { overflow: visible !important; white-space: normal !important; }
@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] { padding: 3.5rem 1rem 3rem; }
  [class*="st-key-figures-"] [data-testid="stVerticalBlock"] { padding: 0.75rem; }
}
@media print {
  [data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stToolbar"],
  [data-testid="stTabs"] [role="tablist"] { display: none !important; }
  [data-testid="stAppViewContainer"], [data-testid="stMain"] { overflow: visible !important; position: static; }
  [data-testid="stVerticalBlock"] > div { break-inside: avoid; }
}
@media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; } }
</style>
"""
