// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Running.Answer;
import io.timewheel.server.security.AuditFile;
import io.timewheel.server.security.AuditLog;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/** Tests an audit log on a full disk. */
class FullAuditLogTest {
  private static final String TIMERS = "/v1/namespaces/shop/timers/";
  private static final String CLAIM = "/v1/namespaces/shop/queues/q/firings:claim";
  private static final String LATER = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";
  private static final String NOW = "{\"after\":\"PT0S\",\"target\":{\"queue\":\"q\"}}";
  private static final int PUTS = 200;

  @TempDir private Path directory;

  /** A disk with space for some lines. */
  private static final class Disk implements AuditLog.Sink {
    private final List<String> lines = new ArrayList<>();
    private int space;

    Disk(int space) {
      this.space = space;
    }

    @Override
    public synchronized void write(String line) throws IOException {
      if (space == 0) {
        throw new IOException("No space left on device");
      }
      space--;
      lines.add(line);
    }

    synchronized void free() {
      space = Integer.MAX_VALUE;
    }

    synchronized long puts() {
      return lines.stream().filter(line -> line.contains("\"did\":\"PUT ")).count();
    }
  }

  private static double metric(Running running, String name) {
    String scrape = running.get("/metrics").response().body();
    return Double.parseDouble(
        scrape
            .lines()
            .filter(line -> line.startsWith(name + " "))
            .findFirst()
            .orElseThrow()
            .substring(name.length()));
  }

  @Test
  void byDefaultReadinessAndAMetricReportLostLinesAtOnce() {
    Disk disk = new Disk(120);
    try (Running running = new Running(new AuditLog(System::nanoTime, disk, false))) {
      assertThat(running.get("/readyz").status()).isEqualTo(200);
      for (int i = 0; i < PUTS; i++) {
        assertThat(running.put(TIMERS + i, LATER).status()).isEqualTo(201);
        assertThat(running.get("/readyz").status()).isEqualTo(i < 120 ? 200 : 503);
      }
      assertThat(running.get("/readyz").text("detail"))
          .isEqualTo("the audit log cannot be written");
      assertThat(disk.puts() + metric(running, "timewheel_audit_lost_total")).isEqualTo(PUTS);

      disk.free();
      Await.until(() -> running.get("/readyz").status() == 200); // without a further change
      assertThat(disk.lines.get(120)).contains("\"lost\":" + (PUTS - 120));
      assertThat(running.put(TIMERS + "a", LATER).status()).isEqualTo(201);
      assertThat(disk.puts()).isEqualTo(121);
    }
  }

  @Test
  void ifRequiredEachAcknowledgedChangeHasALine() {
    Disk disk = new Disk(120);
    try (Running running = new Running(new AuditLog(System::nanoTime, disk, true))) {
      int acknowledged = 0;
      for (int i = 0; i < PUTS; i++) {
        Answer answer = running.put(TIMERS + i, LATER, "Idempotency-Key", "k" + i);
        assertThat(answer.status()).isIn(201, 503);
        assertThat(answer.header("Retry-After")).isEqualTo(answer.status() == 503 ? "1" : null);
        acknowledged += answer.status() == 201 ? 1 : 0;
      }
      assertThat(acknowledged).isEqualTo(120);
      assertThat(disk.puts()).isEqualTo(120);
      assertThat(running.get(TIMERS + "120").status()).as("was made, answered 503").isEqualTo(200);
      assertThat(running.get(TIMERS + "121").status()).as("was refused").isEqualTo(404);

      disk.free();
      Await.until(() -> running.get("/readyz").status() == 200);
      Answer again = running.put(TIMERS + "120", LATER, "Idempotency-Key", "k120");
      assertThat(again.status()).isEqualTo(201);
      assertThat(disk.puts()).isEqualTo(121);
    }
  }

  /** A consumer that gets 503 does not know the claim leases, so the firings are given back. */
  @Test
  void ifRequiredFiringsOfAClaimWithoutALineAreGivenBack() {
    Disk disk = new Disk(1);
    try (Running running = new Running(new AuditLog(System::nanoTime, disk, true))) {
      assertThat(running.put(TIMERS + "a", NOW).status()).isEqualTo(201);
      Answer lost = running.post(CLAIM, "{\"wait\":\"PT1M\"}");
      assertThat(lost.status()).isEqualTo(503);
      assertThat(lost.text("type")).endsWith("unknown_outcome");

      disk.free();
      Await.until(() -> running.get("/readyz").status() == 200);
      Answer claimed = running.post(CLAIM, "{\"wait\":\"PT1M\"}");
      assertThat(claimed.json().at("/firings/0/attempt").asInt()).isEqualTo(1);
    }
  }

  /** The device that fails each write, as a full disk does. */
  @Test
  @EnabledIf("isFullDevicePresent")
  void aFileOnAFullDeviceIsReported() throws Exception {
    Path full = Files.createSymbolicLink(directory.resolve("audit.log"), Path.of("/dev/full"));
    AuditLog audit = new AuditLog(System::nanoTime, new AuditFile(full, 1 << 20), false);
    try (Running running = new Running(audit)) {
      assertThat(running.put(TIMERS + "a", LATER).status()).isEqualTo(201);
      assertThat(running.get("/readyz").status()).isEqualTo(503);
      assertThat(metric(running, "timewheel_audit_lost_total")).isEqualTo(1);
    }
  }

  static boolean isFullDevicePresent() {
    return Files.exists(Path.of("/dev/full"));
  }
}
