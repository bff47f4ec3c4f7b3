"""Coverage-guided fuzzing of the parsers of the platform's bytes: they may only raise vetl's own errors.

    python -m fuzz protocol --seconds 300

`targets` has the functions and their first bytes; atheris searches for other bytes that reach new code. It has no
wheels for Python 3.13. Its findings become cases in `tests/partner`, which tries the targets without it.
"""
