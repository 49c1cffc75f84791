// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LookupsTest {
  private final Lookups lookups = new Lookups();
  private final List<CountDownLatch> busy = new ArrayList<>();

  /** Completes with whether the query has run; otherwise it was refused. */
  private CompletableFuture<Boolean> execute(String namespace, Runnable query) {
    CompletableFuture<Boolean> result = new CompletableFuture<>();
    lookups.execute(
        namespace,
        () -> {
          query.run();
          result.complete(true);
        },
        () -> result.complete(false));
    return result;
  }

  private void occupyAllThreads() {
    for (int i = 0; i < Lookups.MAX; i++) {
      CountDownLatch end = new CountDownLatch(1);
      busy.add(end);
      lookups.execute("busy" + i, () -> await(end), () -> {});
    }
  }

  private static void await(CountDownLatch end) {
    try {
      end.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void waitingLookupsOfOtherNamespacesRunAfterThoseOfAllThreads() {
    occupyAllThreads();
    CompletableFuture<Boolean> first = execute("first", () -> {});
    CompletableFuture<Boolean> second = execute("second", () -> {});
    assertThat(first).isNotDone();

    busy.get(0).countDown();

    assertThat(first.join()).isTrue();
    assertThat(second.join()).isTrue();
    lookups.close();
  }

  @Test
  void waitingLookupsAreRefusedAfterTheClose() {
    occupyAllThreads();
    CompletableFuture<Boolean> waiting = execute("waiting", () -> {});

    lookups.close();

    assertThat(waiting.join()).isFalse();
    assertThat(execute("late", () -> {}).join()).isFalse();
  }

  @Test
  void tooManyWaitingLookupsOfANamespaceAreRefused() {
    occupyAllThreads();
    for (int i = 0; i < Lookups.MAX_WAITING; i++) {
      assertThat(execute("crowd", () -> {})).isNotDone();
    }
    assertThat(execute("crowd", () -> {}).join()).isFalse();
    lookups.close();
  }
}
