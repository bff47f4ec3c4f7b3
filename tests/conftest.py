"""What holds for every test."""

from hypothesis import settings

settings.register_profile("vetl", deadline=None, print_blob=True)
settings.load_profile("vetl")
