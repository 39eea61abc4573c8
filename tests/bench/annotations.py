"""What an annotation costs: nobody recording, recording, two threads at once."""
import subprocess

from harness import program


def annotations(table, quick):
    """annotations: nanoseconds each, off and on, one thread and two"""
    rounds = "100" if quick else "1000"
    for what, threads, on in [("off", "1", ""), ("on", "1", "on"), ("on, two threads race", "2", "on")]:
        done = subprocess.run([program("annotate"), threads, rounds, on], check=True, capture_output=True, text=True)
        table.row(f"annotation, {what}", f"{float(done.stdout):.2f} ns")
