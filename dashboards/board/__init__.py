"""The dashboard on the published file: what a practice manager looks at. It reads that file and nothing else."""
