// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.jdbc.testing.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Measures how long the shards of lost nodes wait for another owner. */
final class TakeOvers implements AutoCloseable {
  private static final long LOOK_MILLIS = 25;
  private static final String OWNERS =
      "SELECT s.shard, n.name FROM timewheel_shard s JOIN timewheel_node n ON n.node = s.owner";

  private @Nullable Thread looker;
  private Map<Integer, String> owners = Map.of();
  private final List<Loss> losses = new ArrayList<>();
  private final Map<String, List<Long>> millisByKind = new TreeMap<>();

  /** Shards that wait for an owner other than their previous one. */
  private static final class Loss {
    final String node;
    final long atNanos;
    final Set<Integer> shards;
    String kind;

    Loss(String kind, String node, long atNanos, Set<Integer> shards) {
      this.kind = kind;
      this.node = node;
      this.atNanos = atNanos;
      this.shards = shards;
    }
  }

  /** Polls a database until this is closed. */
  void watch(Database database) {
    Thread thread = new Thread(() -> look(database), "take-overs");
    thread.setDaemon(true);
    thread.start();
    looker = thread;
  }

  /** Records that a node is lost. */
  synchronized void lost(String kind, String node) {
    Set<Integer> shards = new HashSet<>();
    owners.forEach(
        (shard, owner) -> {
          if (owner.equals(node)) {
            shards.add(shard);
          }
        });
    if (!shards.isEmpty()) {
      losses.add(new Loss(kind, node, System.nanoTime(), shards));
    }
  }

  /** Records that a node is back. The shards that it still owns were not lost. */
  synchronized void back(String node) {
    losses.removeIf(loss -> loss.node.equals(node));
  }

  /** Records another fault. Shards that wait now are counted separately. */
  synchronized void disturb() {
    losses.forEach(loss -> loss.kind = loss.kind.replaceFirst("( with more)?$", " with more"));
  }

  /** Returns whether any shard still waits. */
  synchronized boolean isWaiting() {
    return !losses.isEmpty();
  }

  /**
   * {@return the times of the take-overs, for each kind of loss, in milliseconds for each shard}
   */
  synchronized Map<String, List<Long>> millisByKind() {
    Map<String, List<Long>> copy = new TreeMap<>();
    millisByKind.forEach((kind, millis) -> copy.put(kind, List.copyOf(millis)));
    return copy;
  }

  private void look(Database database) {
    while (!Thread.currentThread().isInterrupted()) {
      try (Connection connection = database.connect();
          Statement statement = connection.createStatement()) {
        while (true) {
          seen(read(statement));
          TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
      } catch (SQLException e) {
        // The server is down, or the tables do not exist yet.
      } catch (InterruptedException e) {
        return;
      }
      try {
        TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private static Map<Integer, String> read(Statement statement) throws SQLException {
    Map<Integer, String> found = new HashMap<>();
    try (ResultSet rows = statement.executeQuery(OWNERS)) {
      while (rows.next()) {
        found.put(rows.getInt(1), rows.getString(2));
      }
    }
    return found;
  }

  /** Records the present owners. */
  synchronized void seen(Map<Integer, String> found) {
    owners = found;
    long nowNanos = System.nanoTime();
    for (Iterator<Loss> all = losses.iterator(); all.hasNext(); ) {
      Loss loss = all.next();
      loss.shards.removeIf(
          shard -> {
            String owner = found.get(shard);
            boolean taken = owner != null && !owner.equals(loss.node);
            if (taken) {
              millisByKind
                  .computeIfAbsent(loss.kind, kind -> new ArrayList<>())
                  .add(TimeUnit.NANOSECONDS.toMillis(nowNanos - loss.atNanos));
            }
            return taken;
          });
      if (loss.shards.isEmpty()) {
        all.remove();
      }
    }
  }

  /** {@return a distribution, on one line} */
  static String distribution(List<Long> millis) {
    List<Long> sorted = millis.stream().sorted().toList();
    int n = sorted.size();
    return String.format(
        "%,d shards: least %,d ms, median %,d ms, 90 %% %,d ms, 99 %% %,d ms, most %,d ms",
        n,
        sorted.get(0),
        sorted.get(n / 2),
        sorted.get((int) Math.min(n - 1L, n * 90L / 100)),
        sorted.get((int) Math.min(n - 1L, n * 99L / 100)),
        sorted.get(n - 1));
  }

  @Override
  public void close() {
    if (looker != null) {
      looker.interrupt();
    }
  }
}
