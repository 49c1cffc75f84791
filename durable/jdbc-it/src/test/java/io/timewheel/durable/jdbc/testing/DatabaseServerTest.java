// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/**
 * Tests the behaviour of all servers that the tests of the store would not miss: stopped, suspended
 * and abandoned servers.
 */
abstract class DatabaseServerTest {
  private static final long TIMEOUT_SECONDS = 60;

  private final DatabaseServer server = shared();

  abstract DatabaseServer shared();

  abstract String name();

  /** Leaves the server running, because other tests share it. */
  @AfterEach
  void startsAgain() {
    if (!server.isRunning()) {
      server.start();
    }
  }

  @Test
  void keepsCommitsAfterAStopAndACrash() throws SQLException {
    Database database = server.createDatabase();
    database.execute("CREATE TABLE t (n BIGINT)");
    database.execute("INSERT INTO t VALUES (1)");
    server.stop();
    assertThat(server.isRunning()).isFalse();
    assertThatThrownBy(database::connect).isInstanceOf(SQLException.class);
    server.start();
    database.execute("INSERT INTO t VALUES (2)");
    server.crash();
    assertThat(server.isRunning()).isFalse();
    server.start();
    assertThat(database.number("SELECT sum(n) FROM t")).isEqualTo(3);
  }

  @Test
  void doesNotRespondWhileSuspended() throws SQLException {
    Database database = server.createDatabase();
    Database impatient =
        database
            .with("socketTimeout", name().equals("mariadb") ? 300 : 1)
            .with("connectTimeout", 1);
    server.suspend();
    try {
      assertThatThrownBy(() -> impatient.number("SELECT 1")).isInstanceOf(SQLException.class);
    } finally {
      server.goOn();
    }
    assertThat(database.number("SELECT 1")).isOne();
  }

  /** A test may block all threads of the common pool until the server is killed. */
  @Test
  @Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
  void stopsAndCrashesWhileTheCommonPoolIsBusy() {
    CountDownLatch end = new CountDownLatch(1);
    ForkJoinPool pool = ForkJoinPool.commonPool();
    for (int i = 0; i < pool.getParallelism(); i++) {
      CompletableFuture<Void> unused = CompletableFuture.runAsync(() -> await(end), pool);
    }
    try {
      server.crash();
      server.start();
      server.stop();
      assertThat(server.isRunning()).isFalse();
    } finally {
      end.countDown();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void diesWhenTheJvmIsKilled() throws Exception {
    Process jvm = startHolder();
    try (BufferedReader said = jvm.inputReader()) {
      ProcessHandle held = ProcessHandle.of(Long.parseLong(said.readLine())).orElseThrow();
      assertThat(said.readLine()).isEqualTo("true");
      List<ProcessHandle> all = held.descendants().toList();
      jvm.destroyForcibly().waitFor();
      held.onExit().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      for (ProcessHandle process : all) {
        process.onExit().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      }
    }
  }

  @Test
  void endsWhenTheJvmExits() throws Exception {
    Process jvm = startHolder();
    try (BufferedReader said = jvm.inputReader()) {
      ProcessHandle held = ProcessHandle.of(Long.parseLong(said.readLine())).orElseThrow();
      jvm.getOutputStream().close();
      assertThat(jvm.waitFor()).isZero();
      held.onExit().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }
  }

  private Process startHolder() throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Holder.class.getName(),
            name())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }
}
