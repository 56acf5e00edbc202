"""Takes over the logs that dead processes left in the spool."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from headwater.capture.delivery.lock import Lock
from headwater.capture.delivery.notices import Notices
from headwater.capture.delivery.session import LOCK, Session


def adopt_sessions(spool: Path, sinks: Collection[str], notices: Notices) -> Iterator[Session]:
    """The logs of dead processes that have events for one of ``sinks``, oldest first.

    Each run that such a process started and did not end gets its FAIL here, in the dead process's own log: if this
    process dies in turn, the next one finds it there.
    """
    for folder in sorted(path for path in spool.iterdir() if path.is_dir()):
        try:
            session = _take_over(folder, sinks, notices)
        except Exception as error:  # whatever it is, the others are not to suffer for it
            reason = (isinstance(error, OSError) and error.strerror) or str(error)
            notices.warn_once(
                f"adopt {folder}", f"The events that a process left in {folder} cannot be taken over: {reason}."
            )
            continue
        if session is not None:
            yield session


def _take_over(folder: Path, sinks: Collection[str], notices: Notices) -> Session | None:
    with suppress(OSError):
        folder.rmdir()  # succeeds only if it is empty: its process died while creating or removing it
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
        notices.warn_once(f"damaged {folder}", f"{damaged} damaged lines in {folder} cannot be delivered.")
    ours = session.cursors.keys() & set(sinks)
    if ours or not session.cursors:
        try:
            session.append_late(open_runs.failures())
        except BaseException:  # such as a full disk: the runs get their FAIL when it has room again
            session.finish(keep=True)
            raise
    if any(session.waiting(sink) for sink in ours):
        return session
    session.finish()  # everything is delivered, or waits for sinks that only another process has
    return None
