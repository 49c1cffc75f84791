// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Fills the disk of a store while timers are scheduled and fire, then frees space. Committed timers
 * are present and fire, also after a restart. Calls that failed report the reason.
 */
public final class FullDisk {
  private static final String NAMESPACE = "full";
  private static final String HANDLER = "h";

  /**
   * The size of the disk. Recovery writes the content of the logs again, so a smaller disk does not
   * suffice.
   */
  private static final int DISK_MEGABYTES = 192;

  private static final int ROOM_BYTES = 3 << 20;
  private static final int PAYLOAD_BYTES = 32 << 10;
  private static final int REFUSALS = 20;
  private static final long TIMEOUT_MILLIS = 60_000;

  private final Path disk;
  private final Path store;
  private final Path filler;
  private final Set<String> fired = ConcurrentHashMap.newKeySet();
  private final Set<String> acknowledged = new TreeSet<>();
  private final Set<String> soon = new TreeSet<>();
  private final Random random = new Random(1);
  private final Report report = new Report();

  /** The result of a run. */
  static final class Report {
    final List<String> violations = new ArrayList<>();
    final Set<String> errors = new TreeSet<>();
    int acknowledged;
    int refused;
    long recoveredMillis = -1;

    @Override
    public String toString() {
      return String.format(
          "%d committed, %d refused, continued %d ms after space was freed; %d violations%n"
              + "refusals: %s",
          acknowledged, refused, recoveredMillis, violations.size(), errors);
    }
  }

  private FullDisk(Path disk) {
    this.disk = disk;
    store = disk.resolve("store");
    filler = disk.resolve("filler");
  }

  public static void main(String[] args) throws Exception {
    try {
      Report report = runAt(Files.createTempDirectory("full-disk"));
      System.out.println(report);
      report.violations.forEach(System.out::println);
      System.exit(report.violations.isEmpty() ? 0 : 1);
    } catch (Mount.NotAllowedException e) {
      System.out.println(
          "SKIPPED: this machine cannot mount a small file system: " + e.getMessage());
      System.exit(2);
    }
  }

  /** Mounts a small disk at a directory, and runs the test. */
  static Report runAt(Path point)
      throws IOException, InterruptedException, Mount.NotAllowedException {
    try (Mount mount = Mount.memory(point, DISK_MEGABYTES)) {
      return run(mount.point());
    }
  }

  private static Report run(Path disk) throws IOException, InterruptedException {
    FullDisk proof = new FullDisk(disk);
    try {
      proof.fillAndMakeRoom();
    } catch (StoreException e) {
      proof.report.violations.add("closing: " + e.getMessage());
    }
    proof.reopenOnAFullDisk();
    proof.judge();
    return proof.report;
  }

  private DurableTimer open() {
    return DurableTimer.builder(Stores.open(store, Log.NONE))
        .handler(HANDLER, firing -> fired.add(firing.id()))
        .start();
  }

  private TimerSpec spec(String id, Duration after, int payloadBytes) {
    byte[] payload = new byte[payloadBytes];
    random.nextBytes(payload); // random, so that they cannot be compressed
    return TimerSpec.of(NAMESPACE, id).handler(HANDLER).payload(payload).after(after);
  }

  private void fillAndMakeRoom() throws IOException, InterruptedException {
    try (DurableTimer scheduler = open()) {
      for (int i = 0; i < 100; i++) {
        String id = "soon-" + i;
        scheduler.schedule(spec(id, Duration.ofMillis(500 + 20 * i), 0));
        acknowledged.add(id);
        soon.add(id);
      }
      fill(ROOM_BYTES);
      for (int i = 0; report.refused < REFUSALS && i < 10_000; i++) {
        schedule(scheduler, "large-" + i, Duration.ofDays(1), PAYLOAD_BYTES);
      }
      if (report.refused == 0) {
        report.violations.add("the disk did not fill");
      }
      // While the disk is full, timers become due: their claims wait.
      fill(0);
      Thread.sleep(1_000);
      long room = System.currentTimeMillis();
      Files.delete(filler);
      while (report.recoveredMillis < 0 && System.currentTimeMillis() < room + TIMEOUT_MILLIS) {
        if (schedule(scheduler, "again-" + System.nanoTime(), Duration.ofDays(1), 100)) {
          report.recoveredMillis = System.currentTimeMillis() - room;
        }
        Thread.sleep(20);
      }
      if (report.recoveredMillis < 0) {
        report.violations.add("does not work after space was freed");
      }
      awaitSoon();
    }
  }

  private boolean schedule(DurableTimer scheduler, String id, Duration after, int payloadBytes) {
    try {
      scheduler.schedule(spec(id, after, payloadBytes));
      acknowledged.add(id);
      return true;
    } catch (DurableTimerException e) {
      report.refused++;
      String message = String.valueOf(e.getMessage());
      report.errors.add(e.reason() + ": " + message.substring(message.indexOf(": ") + 2));
      if (!message.contains(store.toString())) {
        report.violations.add("an error that does not name the directory: " + message);
      }
      return false;
    }
  }

  /** Fills the disk except for this many bytes. */
  private void fill(long freeBytes) throws IOException {
    byte[] block = new byte[64 << 10];
    try (OutputStream out =
        Files.newOutputStream(filler, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      while (true) {
        long left = disk.toFile().getUsableSpace() - freeBytes;
        if (left <= 0) {
          return;
        }
        out.write(block, 0, (int) Math.min(block.length, left));
      }
    } catch (IOException e) {
      if (freeBytes > 0) {
        throw e;
      }
    }
  }

  private void awaitSoon() throws InterruptedException {
    long end = System.currentTimeMillis() + TIMEOUT_MILLIS;
    while (!fired.containsAll(soon) && System.currentTimeMillis() < end) {
      Thread.sleep(20);
    }
    if (!fired.containsAll(soon)) {
      report.violations.add((soon.size() - fired.size()) + " timers have not fired");
    }
  }

  /**
   * Opens a store on a full disk. The store may refuse to open, with the reason, but must not lose
   * data.
   */
  private void reopenOnAFullDisk() throws IOException {
    fill(0);
    try (TimerStore timers = Stores.open(store, Log.NONE)) {
      report.errors.add("opens on a full disk, with " + timers.counts());
    } catch (StoreException e) {
      report.errors.add("opening on a full disk: " + e.kind() + ": " + e.getMessage());
      if (!String.valueOf(e.getMessage()).contains(store.toString())) {
        report.violations.add("an error that does not name the directory: " + e.getMessage());
      }
    }
    Files.delete(filler);
  }

  private void judge() {
    report.acknowledged = acknowledged.size();
    report.violations.addAll(Stores.verify(store));
    try (DurableTimer scheduler = open()) {
      for (String id : acknowledged) {
        if (scheduler.timer(NAMESPACE, id).get().isEmpty()) {
          report.violations.add(id + ": committed, and missing");
        }
      }
    }
  }
}
