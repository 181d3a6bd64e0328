"""Tell Prometheus the counters of a running crawl, by HTTP on its event loop."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from scrapy import signals
from scrapy.exceptions import NotConfigured
from twisted.web.http import SERVICE_UNAVAILABLE
from twisted.web.resource import Resource
from twisted.web.server import Request, Site

from crawler.console.escaping import say
from crawler.crawl_numbers import CrawlNumbers
from crawler.job_registry import CrawlerComponent, host_and_port, listener_of
from crawler.options import Options, metrics_place
from crawler.pages.verdicts import VERDICTS
from crawler.rendering.browser import resident_bytes

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterable, Iterator, Mapping

    from prometheus_client import Metric
    from scrapy.crawler import Crawler

    from crawler.crawl_numbers import Sums
    from crawler.fleet.news import News

COUNTER, GAUGE = CounterMetricFamily, GaugeMetricFamily

_PATIENCE_SECS = 5.0


class MetricsServer:
    """Answers ``GET /metrics`` with what a registry collects then.

    Args:
        listener: A bound socket.
        registry: What is told.
    """

    def __init__(self, listener: socket.socket, registry: CollectorRegistry) -> None:
        self._listener = listener
        self._registry = registry
        self._port: Any = None

    @property
    def url(self) -> str:
        host, port = self._listener.getsockname()[:2]
        return f"http://{host_and_port(host, port)}/metrics"

    def start(self) -> None:
        from twisted.internet import reactor  # noqa: PLC0415  # the one that is installed by then

        def answer(request: Request) -> bytes:
            if self._port is None:  # the connection was there before the crawl ended
                request.setResponseCode(SERVICE_UNAVAILABLE)
                return b""
            request.setHeader("Content-Type", CONTENT_TYPE_LATEST)
            return generate_latest(self._registry)

        root: Any = Resource()
        metrics: Any = Resource()
        metrics.render_GET = answer
        root.putChild(b"metrics", metrics)
        self._listener.setblocking(False)  # or the loop waits in accept
        self._port = reactor.adoptStreamPort(
            self._listener.fileno(), self._listener.family, Site(root, timeout=_PATIENCE_SECS)
        )

    def close(self) -> None:
        """Listen no longer; closing twice is allowed."""
        if self._port is not None:
            self._port.stopListening()
            self._port = None
        self._listener.close()


class Metrics(CrawlerComponent):
    """Serves the metrics of the crawl while it runs, which it collects for each request."""

    def __init__(self, crawler: Crawler) -> None:
        place = metrics_place(Options(crawler.settings))
        if place is None:
            raise NotConfigured("METRICS_PORT is empty")
        self._numbers = CrawlNumbers.of(crawler)
        registry = CollectorRegistry()
        registry.register(self)
        self._server = MetricsServer(listener_of(crawler, *place), registry)
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._server.close, signals.spider_closed)
        self._numbers.job.callbacks.at_close.append(self._server.close)

    def _opened(self) -> None:
        self._server.start()
        say(f"metrics: {self._server.url}", to_stderr=True)

    def collect(self) -> Iterator[Metric]:
        """Yield what Prometheus is told at this moment."""
        return families_of(self._numbers)


def _family(
    name: str,
    kind: type[CounterMetricFamily | GaugeMetricFamily],
    meaning: str,
    samples: Mapping[Any, float],
    labels: tuple[str, ...] = (),
) -> Metric:
    """Return a metric with its numbers, by the values of its labels."""
    family = kind(name, meaning, labels=labels)
    for values, number in samples.items():
        family.add_metric(values, number)
    return family


def families_of(read: CrawlNumbers) -> Iterator[Metric]:
    """Yield the metrics of a crawl at this moment."""
    numbers, job = read.read(), read.job
    yield _family("crawl_once_info", GAUGE, "The crawl.", {(numbers.title,): 1}, ("directory",))
    yield from _of_sums("crawl_once", "of this run", numbers.run)
    yield from _of_sums("crawl_once_directory", "of all runs of the directory", numbers.directory)
    yield _family(
        "crawl_once_requests_failed_total",
        COUNTER,
        "Requests of this run that gave no page, by reason and HTTP status.",
        dict(job.result.failures),
        ("reason", "status"),
    )
    single = (
        ("duplicates_promoted_total", COUNTER, "Duplicates kept after all.", numbers.promoted),
        ("requests_queued", GAUGE, "Requests that wait.", numbers.queued),
        ("requests_in_flight", GAUGE, "Requests under way.", numbers.in_flight),
        ("hosts_paused", GAUGE, "Hosts that rest.", numbers.paused),
        ("workers", GAUGE, "Processes that read pages.", numbers.workers),
        ("workers_busy", GAUGE, "Processes that read a page now.", numbers.busy),
        ("elapsed_seconds", GAUGE, "Age of this run.", round(numbers.elapsed_secs, 3)),
        ("start_time_seconds", GAUGE, "Start of this run since 1970.", job.result.started_at),
        ("finishing", GAUGE, "1 once nothing is requested.", int(numbers.is_finishing)),
    )
    for name, kind, meaning, number in single:
        yield _family(f"crawl_once_{name}", kind, meaning, {(): number})
    seconds = {(stage,): round(secs, 3) for stage, secs in job.processor.seconds.items()}
    meaning = "Seconds of this run by stage, all pages together."
    yield _family("crawl_once_stage_seconds_total", COUNTER, meaning, seconds, ("stage",))
    yield from _of_processes(job.processor.pool.pids)
    if job.fleet is not None and job.fleet.news is not None:
        yield from _of_fleet(job.fleet.news)


def _of_sums(prefix: str, whose: str, sums: Sums) -> Iterator[Metric]:
    answers = {(verdict,): sums.verdicts.get(verdict, 0) for verdict in VERDICTS}
    name, meaning = f"{prefix}_answers_total", f"Answers {whose} by their first verdict."
    yield _family(name, COUNTER, meaning, answers, ("verdict",))
    single = (
        ("pages_fetched_total", "Answers that are no failures", sums.fetched),
        ("pages_kept_total", "Answers that were kept", sums.kept + sums.changed),
        ("fetched_bytes_total", "Bytes of bodies", sums.bytes),
        ("browser_requests_total", "Requests of pages in the browser", sums.browser_requests),
    )
    for name, what, number in single:
        yield _family(f"{prefix}_{name}", COUNTER, f"{what}, {whose}.", {(): number})


def _of_fleet(news: News) -> Iterator[Metric]:
    """Yield what this worker knows of its fleet, which it asks for once a second."""
    counts = news.counts
    if counts is None:
        return
    gauges = (
        ("workers", "Workers that take part", counts.workers),
        ("hosts", "Hosts that wait, are asked or rest", counts.hosts),
        ("requests_queued", "Requests that no worker has", counts.waiting),
        ("requests_leased", "Requests that workers have", counts.leased),
        ("requests_skipped", "Requests that learned rules skip", counts.parked),
        ("requests_broken", "Requests that broke at every try", counts.failed),
        ("records_unreadable", "Records of other programs, put aside", counts.unreadable),
        ("paused", "1 while nothing is requested", int(news.is_paused)),
    )
    for name, what, number in gauges:
        yield _family(f"crawl_once_fleet_{name}", GAUGE, f"{what}, in the fleet.", {(): number})
    totals = (
        ("pages_fetched", "Pages fetched", news.pages),
        ("requests_done", "Requests that are through", counts.done),
    )
    for name, what, number in totals:
        yield _family(f"crawl_once_fleet_{name}_total", COUNTER, f"{what}, by all.", {(): number})


def _of_processes(pids: Iterable[int]) -> Iterator[Metric]:
    sizes = {(str(number),): resident_bytes(pid) for number, pid in enumerate(pids, 1)}
    meaning = "Resident memory of the processes that read pages."
    name = "crawl_once_worker_resident_memory_bytes"
    yield _family(name, GAUGE, meaning, sizes, ("worker",))
    own = {(): resident_bytes(os.getpid())}
    yield _family("process_resident_memory_bytes", GAUGE, "Resident memory of the crawl.", own)
    used = {(): round(time.process_time(), 3)}
    yield _family("process_cpu_seconds_total", COUNTER, "CPU time of the crawl.", used)
