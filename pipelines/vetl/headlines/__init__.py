"""Find unusual things at a practice, and say each in a line: the one home of the notion. No I/O.

`surprise` measures how far counts are from their usual values, `measures` names the counts, `series` brings
counts into days, `finding` finds facts in them, `kept` keeps the facts that were stated before, and `words` says
them. `vetl.jobs.headlines` reads the counts from the marts and keeps the facts.
"""
