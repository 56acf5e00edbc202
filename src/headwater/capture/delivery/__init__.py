"""How events leave the user's process without ever hurting it.

    send ──► journal (a log of our own in the spool folder) ──► one forwarder a sink ──► sink

An event is on disk before ``send`` returns; everything after that happens in threads that the job does not wait for.
"""

from headwater.capture.delivery.delivery import Delivery
from headwater.capture.delivery.forwarder import Counts
from headwater.capture.delivery.ingest import IngestSink
from headwater.capture.delivery.sink import Sink, SinkDown, SinkRefused
from headwater.capture.delivery.targets import sink_for

__all__ = ["Counts", "Delivery", "IngestSink", "Sink", "SinkDown", "SinkRefused", "sink_for"]
