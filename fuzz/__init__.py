"""Coverage-guided fuzzing of what reads the platform's bytes: whatever comes, only vetl's own errors go out.

    python -m fuzz protocol --seconds 300

`targets` says what is tried and with which first bytes; atheris looks for others that reach new code. It has no
wheels for Python 3.13. What it finds becomes a case of `tests/fuzz`, which tries the targets without it.
"""
