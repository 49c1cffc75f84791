// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Caller;
import io.timewheel.server.store.HistogramScans.Span;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HistogramScansTest {
  private static final long NOW = Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();

  private final Queue<Runnable> threads = new ArrayDeque<>();
  private final List<String> scans = new ArrayList<>();
  private final StoreReads reads = new StoreReads();
  private final HistogramScans histograms = new HistogramScans(reads, threads::add);
  private DurableTimer scheduler;
  private boolean isBroken;

  private final class NotedStore extends ForwardingTimerStore {
    NotedStore(TimerStore store) {
      super(store);
    }

    @Override
    public long[] histogram(@Nullable String namespace, long[] bounds) {
      if (isBroken) {
        throw new IllegalStateException("broken");
      }
      scans.add(namespace + " " + (bounds[0] - NOW) + " " + (bounds[bounds.length - 1] - NOW));
      return super.histogram(namespace, bounds);
    }
  }

  @BeforeEach
  void open() {
    scheduler =
        DurableTimer.builder(new NotedStore(InMemoryTimerStore.create()))
            .clock(InstantSource.fixed(Instant.ofEpochMilli(NOW)))
            .build();
    reads.serve(scheduler, 1);
    for (int i = 0; i < 100; i++) {
      schedule("shop", i);
    }
  }

  @AfterEach
  void close() {
    scheduler.close();
  }

  private void schedule(String namespace, long afterMillis) {
    scheduler.schedule(
        TimerSpec.of(namespace, "t" + afterMillis)
            .at(Instant.ofEpochMilli(NOW + afterMillis))
            .queue("q"));
  }

  private CompletableFuture<long[]> count(String namespace, long from, long to, int buckets) {
    return histograms.count(
        Caller.LOCAL, namespace, new Span(NOW + from, NOW + to, buckets), () -> false);
  }

  private void runAll() {
    for (Runnable next = threads.poll(); next != null; next = threads.poll()) {
      next.run();
    }
  }

  @Test
  void requestsThatWaitForOverlappingSpansShareAScan() {
    var ten = count("shop", 0, 100, 10);
    var same = count("shop", 0, 100, 10);
    var three = count("shop", 1, 101, 3);
    var within = count("shop", 5, 7, 1);
    runAll();
    assertThat(scans).containsExactly("shop 0 101");
    assertThat(ten.join()).containsExactly(10, 10, 10, 10, 10, 10, 10, 10, 10, 10);
    assertThat(same.join()).isEqualTo(ten.join());
    assertThat(three.join()).containsExactly(33, 33, 33);
    assertThat(within.join()).containsExactly(2);
  }

  @Test
  void aScanBeginsAfterEachOfItsRequests() {
    var before = count("shop", 0, 1_000, 1);
    threads.remove().run();
    assertThat(before.join()).containsExactly(100);
    schedule("shop", 500);
    var after = count("shop", 0, 1_000, 1);
    runAll();
    assertThat(after.join()).containsExactly(101);
    assertThat(scans).hasSize(2);
  }

  @Test
  void aScanReadsNoOtherNamespaceAndNothingBetweenSpans() {
    schedule("stock", 5);
    var shop = count("shop", 0, 10, 2);
    var stock = count("stock", 0, 10, 2);
    var later = count("shop", 10, 20, 1);
    runAll();
    assertThat(scans).containsExactlyInAnyOrder("shop 0 10", "stock 0 10", "shop 10 20");
    assertThat(shop.join()).containsExactly(5, 5);
    assertThat(stock.join()).containsExactly(0, 1);
    assertThat(later.join()).containsExactly(10);
  }

  @Test
  void aScanHasALimitedNumberOfBounds() {
    for (int i = 0; i < 3; i++) {
      var unused = count("shop", 0, 10_000 + i, 10_000);
    }
    runAll();
    assertThat(scans).containsExactly("shop 0 10001", "shop 0 10002");
  }

  @Test
  void abandonedRequestsAreNotCounted() {
    Span span = new Span(NOW, NOW + 10, 1);
    var unused = histograms.count(Caller.LOCAL, "shop", span, () -> true);
    runAll();
    assertThat(scans).isEmpty();
  }

  @Test
  void allRequestsOfAFailedScanFail() {
    var one = count("shop", 0, 10, 1);
    var other = count("shop", 0, 10, 2);
    isBroken = true;
    runAll();
    assertThat(one).isCompletedExceptionally();
    assertThat(other).isCompletedExceptionally();
  }

  @Test
  void scansOverTheLimitAreRefusedAndRequestsForThoseThatWaitAreNot() {
    for (int i = 0; i < 256; i++) {
      var unused = count("shop" + i, 0, 10, 1);
    }
    assertThatThrownBy(() -> count("shop", 0, 10, 1))
        .isInstanceOfSatisfying(
            Problem.Failure.class,
            failure -> assertThat(failure.problem().status()).isEqualTo(503));
    var joined = count("shop7", 0, 10, 1);
    runAll();
    assertThat(joined.join()).containsExactly(0);
  }
}
