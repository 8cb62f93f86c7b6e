"""The same reading on a club's several machines, by Dask's scheduler."""

import logging
import socket
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import cv2

from desk.batch import Engine, Page, Pages, Picture, Work, failed, read_pages
from desk.edge import ExitCode, Stop
from desk.folder import program
from scoring.text import Text

CONNECT_S = 10
AHEAD = 2
"""Pictures handed out for each worker's thread: one under way and one to go on with; the rest stay here."""


def read_there(address: str) -> Engine:
    """Reads by the workers of the scheduler at `address`, such as "192.168.1.10:8786".

    The pictures' bytes travel, so that the machines need share no folder. Work of a worker that is lost is done by
    another; a picture that takes one worker after the other with it is `unreadable`. Stop where Dask is not installed,
    nothing answers at the address, or the workers lack this program.
    """
    try:
        import distributed
    except ImportError as error:
        raise Stop(
            Text(
                "--cluster: не установлен Dask; поставьте pulka[cluster]",
                "--cluster: Dask is not installed; install pulka[cluster]",
            )
        ) from error

    def engine(pictures: Sequence[Picture], work: Work) -> Generator[tuple[int, Pages], None, None]:
        if not pictures:
            return
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            _knock(distributed, address)
            client = distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise Stop(
                Text(
                    f"--cluster {address}: по этому адресу нет планировщика Dask",
                    f"--cluster {address}: there is no Dask scheduler at this address",
                )
            ) from error
        try:
            room = AHEAD * _threads(client, address)
            yield from _by_turns(distributed, client, pictures, work, room)
        except (OSError, distributed.CancelledError) as error:
            raise Stop(
                Text(
                    f"--cluster {address}: связь с планировщиком потеряна; запустите ещё раз: с -o DIR "
                    "прочитанное не пропало",
                    f"--cluster {address}: the scheduler is lost; run it again: with -o DIR what was read is kept",
                ),
                code=ExitCode.OURS,
            ) from error
        finally:
            with suppress(Exception):
                client.close(timeout=CONNECT_S)

    return engine


def _knock(distributed: Any, address: str) -> None:
    """OSError or ValueError where nothing listens at the address.

    Dask's own client finds that out too, but leaves a traceback behind when Python ends.
    """
    scheme, place = distributed.comm.parse_address(address)
    if scheme in ("tcp", "tls"):
        socket.create_connection(distributed.comm.parse_host_port(place), CONNECT_S).close()


def _by_turns(
    distributed: Any, client: Any, pictures: Sequence[Picture], work: Work, room: int
) -> Iterator[tuple[int, Pages]]:
    """Hand out pictures while there is room, and yield what comes back."""
    places: dict[str, int] = {}
    ahead = iter(range(len(pictures)))
    under_way = distributed.as_completed(loop=client.loop)

    def hand_out() -> Iterator[tuple[int, Pages]]:
        for i in ahead:
            try:
                sent = replace(pictures[i], path=None, data=pictures[i].content())
            except OSError:
                yield i, read_pages(pictures[i], work)
                continue
            future = client.submit(_read_remote, sent, work, pure=False)
            places[future.key] = i
            under_way.add(future)
            return

    for _ in range(room):
        yield from hand_out()
    for future in under_way:
        i = places.pop(future.key)
        yield i, _result(distributed, future, pictures[i], work)
        yield from hand_out()


def _result(distributed: Any, future: Any, picture: Picture, work: Work) -> Pages:
    try:
        pages: Pages = future.result()
        return pages
    except distributed.KilledWorker:
        return (failed(picture, work.lang, "KilledWorker"),)
    except (OSError, distributed.CancelledError):
        raise  # the scheduler is lost: whatever a picture does comes back as a reading
    except Exception as error:
        return (failed(picture, work.lang, f"{type(error).__name__}: {error}"),)


def _read_remote(picture: Picture, work: Work) -> tuple[Page, ...]:
    """Read a picture on a worker; how many at once is the worker's own choice."""
    cv2.setNumThreads(1)
    return read_pages(picture, work)


def _threads(client: Any, address: str) -> int:
    """How many pictures the cluster reads at a time; Stop where nobody works there, or not with this program."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_S)
    except Exception as error:
        raise Stop(
            Text(f"--cluster {address}: у планировщика нет работников", f"--cluster {address}: there are no workers")
        ) from error
    answers = client.run(_ready, on_error="return")
    try:
        client.run_on_scheduler(_ready)
    except Exception as error:
        answers[address] = error
    if lacking := [worker for worker, answer in answers.items() if answer != program()]:
        raise Stop(
            Text(
                f"--cluster {address}: на {', '.join(lacking)} не установлена эта программа, или не эта её версия",
                f"--cluster {address}: this program is not installed on {', '.join(lacking)}, or in another version",
            )
        )
    return sum(client.nthreads().values())


def _ready() -> str:
    return program()
