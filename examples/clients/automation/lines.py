"""What the Python clients here share: their arguments and their output."""
import datetime
import logging
import os
from concurrent.futures import ThreadPoolExecutor

TIMEOUT = float(os.environ.get("TIMEOUT", "60"))  # seconds a client waits for an answer

logging.disable(logging.CRITICAL)  # of the libraries: what counts stands in the lines below


def title(fault):
    """Monitoring writes the time of day into its titles."""
    return f"disk full on {fault}, seen {datetime.datetime.now():%H:%M:%S.%f}"


def main(arguments, create, resolve):
    """One line a fault: "told FAULT TICKET" or "failed FAULT why"."""
    command, url, *rest = arguments
    if command == "resolve":
        print("resolved", rest[0], resolve(url, rest[0]))
        return
    severity, *faults = rest

    def one(fault):
        try:
            return f"told {fault} {create(url, severity, fault)}"
        except Exception as e:
            return f"failed {fault} {type(e).__name__}: {e}".replace("\n", " ")[:300]

    with ThreadPoolExecutor(len(faults)) as pool:
        for line in pool.map(one, faults):
            print(line, flush=True)
