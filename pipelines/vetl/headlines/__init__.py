"""Find unusual things at a practice, and say each in a line: the one home of the notion. No I/O.

`surprise` measures how far counts are from their usual values. `measures` names the counts, brings them into days
and says the facts. `shapes` searches facts in them, and `finding` selects them and keeps those that were stated
before. `vetl.jobs.headlines` reads the counts from the marts and keeps the facts.
"""
