"""All checks, in the order of their dependencies: Python, Java, Spark, the store and its surroundings."""

from __future__ import annotations

from headwater.doctor.clock import clock
from headwater.doctor.disk import disk
from headwater.doctor.findings import Check, DoctorOptions, Finding
from headwater.doctor.java import java
from headwater.doctor.keys import signing_key
from headwater.doctor.parts import parts
from headwater.doctor.python import python
from headwater.doctor.spark import spark
from headwater.doctor.spool import spool
from headwater.doctor.store import store
from headwater.doctor.trial import trial

CHECKS: tuple[Check, ...] = (python, java, spark, trial, store, disk, clock, spool, signing_key, parts)


def examine(options: DoctorOptions) -> list[Finding]:
    return [finding for check in CHECKS for finding in check(options)]
