"""From an event to the sinks, without ever harming the job.

    send ──► journal (a log in the spool folder) ──► one forwarder per sink ──► sink

An event is on disk before ``send`` returns; everything after that happens in threads that the job does not wait for.

delivery    the entry: takes events, starts the threads, flushes and closes
journal     appends events to this process's log; session, segments, cursor, frames and lock are its files
adoption    takes over the logs of dead processes
forwarder   one thread per sink; sink, http, jsonl, console and ingest are the sinks, targets finds one by its
address
"""

from headwater.capture.delivery.delivery import Delivery
from headwater.capture.delivery.forwarder import DeliveryCounts
from headwater.capture.delivery.ingest import IngestSink
from headwater.capture.delivery.sink import EventSink, SinkDown, SinkRefused
from headwater.capture.delivery.targets import sink_for

__all__ = ["Delivery", "DeliveryCounts", "EventSink", "IngestSink", "SinkDown", "SinkRefused", "sink_for"]
