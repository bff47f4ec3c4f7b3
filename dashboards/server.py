"""The server of the dashboard: Streamlit's own, with headers that it does not set. `vetl dashboard` runs it."""

import streamlit as st
from board.headers import SafeHeaders
from starlette.middleware import Middleware

app = st.App("app.py", middleware=[Middleware(SafeHeaders)])
