// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import io.timewheel.server.http.FairQueue;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Caller;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;

/**
 * Counts the timers of a namespace by their time. A count reads each timer of its span, so requests
 * share scans. A request joins a waiting scan of its namespace that overlaps its span. So any
 * number of requests costs at most one scan after the running one. Each count is newer than its
 * request. Requests wait without a thread, and callers take turns. Thread-safe.
 */
public final class HistogramScans {
  /** The number of concurrent scans. */
  public static final int AT_A_TIME = 2;

  /**
   * The number of scans that may wait. If the server uses tokens, each caller may have at most half
   * of them.
   */
  private static final int MAX_WAITING = 256;

  /** The number of bounds of a scan: two histograms of 10,000 buckets, or many smaller ones. */
  private static final int MAX_BOUNDS = 20_002;

  private final StoreReads reads;
  private final Executor executor;
  private final FairQueue<Scan> waiting = new FairQueue<>();

  /** Creates scans on an executor with {@link #AT_A_TIME} threads. */
  public HistogramScans(StoreReads reads, Executor executor) {
    this.reads = reads;
    this.executor = executor;
  }

  /**
   * A span of time in buckets of equal length.
   *
   * @param fromMillis its start
   * @param toMillis its end, at least a millisecond later for each bucket
   * @param buckets the number of buckets
   */
  public record Span(long fromMillis, long toMillis, int buckets) {
    /** {@return the start of a bucket, which is the end of the previous one} */
    public long bound(int bucket) {
      long length = toMillis - fromMillis;
      return fromMillis + length / buckets * bucket + length % buckets * bucket / buckets;
    }

    private LongStream bounds() {
      return LongStream.rangeClosed(0, buckets).map(bucket -> bound((int) bucket));
    }
  }

  private static final class Request {
    final Span span;
    final BooleanSupplier isAbandoned;
    final CompletableFuture<long[]> counts = new CompletableFuture<>();

    Request(Span span, BooleanSupplier isAbandoned) {
      this.span = span;
      this.isAbandoned = isAbandoned;
    }

    /** Adds up the counts of a scan, whose bounds include those of this request. */
    void answer(long[] bounds, long[] scanned) {
      long[] sums = new long[span.buckets];
      int at = Arrays.binarySearch(bounds, span.fromMillis);
      for (int bucket = 0; bucket < span.buckets; bucket++) {
        for (long end = span.bound(bucket + 1); bounds[at] < end; at++) {
          sums[bucket] += scanned[at];
        }
      }
      counts.complete(sums);
    }
  }

  /** A scan that waits. Guarded by the lock of the queue until it leaves the queue. */
  private static final class Scan {
    final String namespace;
    final List<Request> requests = new ArrayList<>();
    private long fromMillis = Long.MAX_VALUE;
    private long toMillis = Long.MIN_VALUE;
    private int bounds;

    Scan(String namespace) {
      this.namespace = namespace;
    }

    /** Returns whether the scan accepts a span. A scan never reads the time between two spans. */
    boolean takes(String other, Span span) {
      return namespace.equals(other)
          && span.fromMillis < toMillis
          && fromMillis < span.toMillis
          && bounds + span.buckets + 1 <= MAX_BOUNDS;
    }

    void add(Request request) {
      requests.add(request);
      fromMillis = Math.min(fromMillis, request.span.fromMillis);
      toMillis = Math.max(toMillis, request.span.toMillis);
      bounds += request.span.buckets + 1;
    }
  }

  /**
   * Counts timers.
   *
   * @param isAbandoned returns true once the client no longer waits for the counts
   * @return the exact count of each bucket
   */
  public CompletableFuture<long[]> count(
      Caller caller, String namespace, Span span, BooleanSupplier isAbandoned) {
    Request request = new Request(span, isAbandoned);
    synchronized (waiting) {
      Scan scan = waiting.find(each -> each.takes(namespace, span));
      if (scan == null) {
        scan = new Scan(namespace);
        int limit = caller.equals(Caller.LOCAL) ? MAX_WAITING : MAX_WAITING / 2;
        if (waiting.size() >= MAX_WAITING || waiting.size(caller.name()) >= limit) {
          throw Problem.busy("too many histograms wait (limit: " + limit + ")").failure();
        }
        waiting.add(caller.name(), scan);
        executor.execute(this::next);
      }
      scan.add(request);
    }
    return request.counts;
  }

  private void next() {
    Scan scan;
    synchronized (waiting) {
      scan = waiting.poll();
    }
    if (scan != null) {
      scan.requests.removeIf(request -> request.isAbandoned.getAsBoolean());
      run(scan);
    }
  }

  private void run(Scan scan) {
    if (scan.requests.isEmpty()) {
      return;
    }
    long[] bounds =
        scan.requests.stream()
            .flatMapToLong(request -> request.span.bounds())
            .sorted()
            .distinct()
            .toArray();
    List<Instant> times = LongStream.of(bounds).mapToObj(Instant::ofEpochMilli).toList();
    long[] counts;
    try {
      String namespace = scan.namespace;
      counts =
          reads.ask(
              timer ->
                  (namespace == null ? timer.allNamespaces() : timer.namespace(namespace))
                      .histogram(times));
    } catch (RuntimeException | Error e) {
      scan.requests.forEach(request -> request.counts.completeExceptionally(e));
      return;
    }
    scan.requests.forEach(request -> request.answer(bounds, counts));
  }
}
