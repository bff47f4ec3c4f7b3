"""One module for each list of the contract: its fields, how its rows are shown, what it can be filtered by."""
