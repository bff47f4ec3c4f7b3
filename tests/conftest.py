"""What holds for every test."""

from hypothesis import settings

settings.register_profile("vetl", deadline=None, print_blob=True, derandomize=True)
settings.register_profile("explore", parent=settings.get_profile("vetl"), derandomize=False)
settings.load_profile("vetl")
