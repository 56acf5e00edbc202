"""Taking over what dead processes left in the spool."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from headwater.capture.delivery.lock import Lock
from headwater.capture.delivery.notices import Notices
from headwater.capture.delivery.session import LOCK, Session


def adopt(spool: Path, sinks: Collection[str], notices: Notices) -> Iterator[Session]:
    """The logs whose process is gone and that one of ``sinks`` has something to gain from, oldest first.

    Each run that such a process had begun and not ended gets its FAIL here, in the dead process's own log: if we die in
    turn, whoever comes next sees that it is there.
    """
    for folder in sorted(path for path in spool.iterdir() if path.is_dir()):
        try:
            session = _take_over(folder, sinks, notices)
        except Exception as error:  # whatever it is, the others are not to suffer for it
            reason = (isinstance(error, OSError) and error.strerror) or str(error)
            notices.trouble(f"adopt {folder}", f"What a process left in {folder} cannot be taken over: {reason}.")
            continue
        if session is not None:
            yield session


def _take_over(folder: Path, sinks: Collection[str], notices: Notices) -> Session | None:
    with suppress(OSError):
        folder.rmdir()  # succeeds only on an empty one: somebody died while making or removing it
        return None
    lock = Lock.take(folder / LOCK)
    if lock is None:
        return None
    try:
        session, open_runs, damaged = Session.take_over(folder, lock)
    except BaseException:
        lock.release()
        raise
    if damaged:
        notices.trouble(f"damaged {folder}", f"{damaged} damaged lines in {folder} cannot be delivered.")
    ours = session.cursors.keys() & set(sinks)
    if ours or not session.cursors:
        try:
            session.append_late(open_runs.failures())
        except BaseException:  # a full disk, say: the runs get their end when it has room again
            session.finish(keep=True)
            raise
    if any(session.waiting(sink) for sink in ours):
        return session
    session.finish()  # everything is delivered, or waits for sinks that only another process has
    return None
