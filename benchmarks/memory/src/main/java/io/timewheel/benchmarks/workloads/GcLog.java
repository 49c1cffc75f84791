// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import static com.sun.management.GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;

/**
 * Reads every pause of the collector from the JVM's log, which has microseconds and all kinds of
 * pauses. Reads the growth of the old generation from the JVM's notifications.
 */
final class GcLog implements AutoCloseable {
  /** As in: [1234567ns] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 2.345ms */
  private static final Pattern PAUSE = Pattern.compile("\\[(\\d+)ns].* Pause .* ([0-9.]+)ms");

  private final Path file;
  private final AtomicLong promotedBytes = new AtomicLong();
  private final NotificationListener listener = (notification, handback) -> see(notification);

  GcLog(Path file) {
    this.file = file;
    log("output=" + file, "what=gc", "decorators=timenanos");
    for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      ((NotificationEmitter) bean).addNotificationListener(listener, null, null);
    }
  }

  /** Configures the log, like "jcmd VM.log". */
  private static void log(String... arguments) {
    try {
      ManagementFactory.getPlatformMBeanServer()
          .invoke(
              new ObjectName("com.sun.management:type=DiagnosticCommand"),
              "vmLog",
              new Object[] {arguments},
              new String[] {String[].class.getName()});
    } catch (JMException e) {
      throw new IllegalStateException(e);
    }
  }

  private void see(Notification notification) {
    if (notification.getType().equals(GARBAGE_COLLECTION_NOTIFICATION)) {
      var gc = GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData());
      long grown =
          oldBytes(gc.getGcInfo().getMemoryUsageAfterGc())
              - oldBytes(gc.getGcInfo().getMemoryUsageBeforeGc());
      promotedBytes.addAndGet(Math.max(0, grown));
    }
  }

  private static long oldBytes(Map<String, MemoryUsage> pools) {
    return pools.entrySet().stream()
        .filter(pool -> pool.getKey().contains("Old Gen"))
        .mapToLong(pool -> pool.getValue().getUsed())
        .sum();
  }

  /** {@return the pauses between two times} */
  List<Double> pausesMillis(long fromNanos, long untilNanos) throws IOException {
    List<Double> pauses = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      Matcher pause = PAUSE.matcher(line);
      if (pause.find()) {
        long atNanos = Long.parseLong(pause.group(1));
        if (atNanos - fromNanos >= 0 && atNanos - untilNanos <= 0) {
          pauses.add(Double.valueOf(pause.group(2)));
        }
      }
    }
    return pauses;
  }

  /**
   * {@return the growth of the old generation by collections; notifications are delayed for a
   * moment}
   */
  long promotedBytes() throws InterruptedException {
    Thread.sleep(200);
    return promotedBytes.get();
  }

  @Override
  public void close() {
    log("disable");
    for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      try {
        ((NotificationEmitter) bean).removeNotificationListener(listener);
      } catch (JMException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
