"""One module for each list of the contract: its fields, and how rows of the world are shown as records."""
