// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import org.junit.jupiter.api.Test;

class DefaultWorkersTest {
  @Test
  void usesAFactoryThatTheJvmHas() {
    ExecutorService workers = DefaultWorkers.create("newWorkStealingPool");
    assertThat(workers.getClass().getSimpleName()).isEqualTo("ForkJoinPool");
    workers.shutdown();
  }

  @Test
  void fallsBackToAPoolOfDaemonsThatEndWhenIdle() throws Exception {
    ThreadPoolExecutor workers = (ThreadPoolExecutor) DefaultWorkers.create("newMagicThreads");
    assertThat(workers.submit(() -> Thread.currentThread().isDaemon()).get()).isTrue();
    assertThat(workers.getMaximumPoolSize())
        .isEqualTo(Math.max(2, Runtime.getRuntime().availableProcessors()));
    assertThat(workers.allowsCoreThreadTimeOut()).isTrue();
    workers.shutdown();
  }

  @Test
  void threadsAreDaemonsInEveryCase() throws Exception {
    ExecutorService workers = DefaultWorkers.create();
    assertThat(workers.submit(() -> Thread.currentThread().isDaemon()).get()).isTrue();
    workers.shutdown();
  }
}
