"""What holds for every test."""

import os

from hypothesis import settings

settings.register_profile("vetl", deadline=None, print_blob=True)
settings.load_profile("vetl")

os.environ["DBT_IN_FULL_BELOW"] = "0"
"""The histories of tests are short, and how long ones are built is what is asked."""
