"""The speed of the first sync, as a ratio to the floor of the same run on the same machine."""
