"""Many pictures at once in processes of this machine, which can be ended at any moment, whatever they are at.

Each process has a pipe of its own and no lock that another one waits for: one that is killed, even halfway through
telling what it read, leaves nobody hanging. The pools of the standard library cannot promise that.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

import cv2

from desk.batch import Engine, Pages, Picture, Work, failed, read_pages

AHEAD = 2
"""Pictures handed out to each process: one under way and one to go on with."""


def read_here(jobs: int) -> Engine:
    """Reads in `jobs` processes of this machine.

    A picture whose reading brings its process down is read once more alone, and if that fails too, it is `unreadable`.
    """

    def engine(pictures: Sequence[Picture], work: Work) -> Generator[tuple[int, Pages], None, None]:
        if jobs == 1 or len(pictures) == 1:
            yield from ((i, read_pages(picture, work)) for i, picture in enumerate(pictures))
            return
        once_more = []
        for i, pages in _in_processes(pictures, work, range(len(pictures)), jobs):
            if pages is None:
                once_more.append(i)
            else:
                yield i, pages
        for place in once_more:
            for i, pages in _in_processes(pictures, work, [place], 1):
                yield i, pages if pages is not None else (failed(pictures[i], work.lang, "its process died"),)

    return engine


class _Worker:
    """A process that reads pictures, and the places of those handed out to it, the one under way first."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.places: deque[int] = deque()
        # A daemon, so that nothing waits for it where it was not ended.
        self.process: BaseProcess = context.Process(target=_read_for, args=(theirs, read_pages), daemon=True)
        self.process.start()
        theirs.close()

    def hand(self, what: object) -> None:
        """Send it something; that it died will show when its answer is awaited."""
        with suppress(OSError):
            self.pipe.send(what)


def _in_processes(
    pictures: Sequence[Picture], work: Work, places: Sequence[int], jobs: int
) -> Iterator[tuple[int, Pages | None]]:
    """Read the pictures at these places and yield the sheets of each; None where its process died over it."""
    left = deque(places)
    workers: list[_Worker] = []

    def begin(count: int) -> None:
        with _interrupts_held():
            for _ in range(count):
                workers.append(_Worker())
        for worker in workers[len(workers) - count :]:
            # All of it at once: of what is handed out later every message is too short to wait for its reader.
            worker.hand((pictures, work))
            hand_out(worker)

    def hand_out(worker: _Worker) -> None:
        while left and len(worker.places) < AHEAD:
            worker.places.append(left.popleft())
            worker.hand(worker.places[-1])

    try:
        begin(min(jobs, len(left)))
        while busy := [worker for worker in workers if worker.places]:
            ready = wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe not in ready:
                    continue
                place = worker.places.popleft()
                pages: Pages | None
                try:
                    pages = worker.pipe.recv()
                except (EOFError, OSError):
                    pages = None
                    left.extendleft(worker.places)
                    workers.remove(worker)
                    begin(min(1, len(left)))
                else:
                    hand_out(worker)
                yield place, pages
    finally:
        # Nobody waits for what is under way any more.
        with _interrupts_held():
            for worker in workers:
                worker.process.kill()
            for worker in workers:
                worker.process.join()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """An interrupt waits until the end of this; the processes begun meanwhile never get one, not even as they load."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Python begins this helper with the first process, and then lets interrupts through.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _read_for(pipe: Connection, read: Callable[[Picture, Work], Pages]) -> None:
    """What a process does: read what it is told to, until nobody tells it any more."""
    _one_core_until_the_parent_ends()
    with suppress(EOFError, OSError):
        pictures, work = pipe.recv()
        while True:
            pipe.send(read(pictures[pipe.recv()], work))


def _one_core_until_the_parent_ends() -> None:
    """One picture, one core; an interrupt is the parent's business, and a parent that was killed is the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cv2.setNumThreads(1)
    parent = parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
