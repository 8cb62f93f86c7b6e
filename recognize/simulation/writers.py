"""Which people a training never sees, so that whoever measures a net measures it on strangers."""

import hashlib

HELD_OUT = 2 / 9
"""The share of writers kept out of training."""


def is_held_out(writer_id: str) -> bool:
    """Whether the writer (an id such as `aga_000`, `ch_03`, `nist_2154`, `semeion_group0`) is kept out of training.

    Depends on the id alone: the same in every run, on every machine, whatever other writers a data set holds.
    The empty id, where a data set names nobody, is not held out.
    """
    if not writer_id:
        return False
    digest = hashlib.sha256(f"hold-out:{writer_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < HELD_OUT * 2**64
