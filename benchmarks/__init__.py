"""How fast the first sync is, as a ratio to the floor of the same run on the same machine."""
