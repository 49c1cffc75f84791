// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.TimerState;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A process is suspended like a machine, for longer than its node lease, and then continues. Only
 * this class stops a whole process between the fence and the commit.
 */
@Tag("proof")
@Execution(ExecutionMode.CONCURRENT)
@Timeout(600)
@Tag("promise-54")
class SuspendedNodeTest {
  private final Database database = server().createDatabase();
  private final HikariDataSource pool = database.pool(8);
  private final BlockingQueue<String> begun = new LinkedBlockingQueue<>();
  private final CountDownLatch mayEnd = new CountDownLatch(1);

  @TempDir Path directory;

  DatabaseServer server() {
    return TestDatabases.postgresql();
  }

  @AfterEach
  void close() {
    pool.close();
  }

  private void handle(Firing firing) throws InterruptedException {
    begun.add(firing.id() + " " + firing.attempt());
    mayEnd.await();
  }

  @Test
  void commitsNothingNeitherFromAHandlerNorFromBehindTheFence() throws Exception {
    ChildProcess suspended =
        ChildProcess.start(
            HeldNode.class,
            directory.resolve("errors"),
            List.of(),
            database.url(),
            database.user(),
            database.password());
    try {
      assertThat(suspended.await(HeldNode.Mark.HELD.name())).isNotNull();
      suspended.suspend();
      try (DurableTimer scheduler =
          DurableTimer.builder(DatabaseKind.of(database).builder(pool).open())
              .handler(HeldNode.IN_HANDLER, this::handle)
              .handler(HeldNode.AT_COMMIT, this::handle)
              .start()) {
        assertThat(List.of(begun.take(), begun.take()))
            .containsExactlyInAnyOrder(HeldNode.IN_HANDLER + " 2", HeldNode.AT_COMMIT + " 2");
        suspended.goOn();
        suspended.endInput();
        assertThat(suspended.await("")).isEqualTo(HeldNode.Mark.REFUSED.name());
        assertThat(suspended.await(HeldNode.Mark.CLOSED.name())).isNotNull();
        for (String id : List.of(HeldNode.IN_HANDLER, HeldNode.AT_COMMIT)) {
          assertThat(scheduler.timer(HeldNode.NAMESPACE, id).get())
              .get()
              .returns(TimerState.RUNNING, TimerInfo::state)
              .returns(2, TimerInfo::attempt);
        }
        mayEnd.countDown();
      }
      assertThat(begun).isEmpty();
    } finally {
      suspended.kill();
    }
  }
}
