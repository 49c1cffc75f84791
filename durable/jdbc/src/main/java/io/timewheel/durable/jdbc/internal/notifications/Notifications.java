// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.notifications;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Collects the notifications of one write batch as one text: shards with new timers that are due
 * before the next lookup, and queues and handlers with ready timers. The lines are {@code A shard
 * fireAt}, {@code R namespace queue} and {@code H handler}, separated by tabs, which no name
 * contains.
 */
public final class Notifications {
  /** Twice the time between two lookups of an owner. */
  public static final long NEAR_MILLIS = 1_000;

  /** PostgreSQL accepts 8,000 bytes. Timers that do not fit are found by the next lookup. */
  private static final int MAX_LENGTH = 2_000;

  /** Notifies nodes of a new pause. */
  public static final String PAUSES = "P\n";

  private final Map<Integer, Long> added = new TreeMap<>();
  private final Set<String> ready = new LinkedHashSet<>();
  private final Set<String> handlersReady = new LinkedHashSet<>();

  public void add(TimerRecord record, int shards, IntPredicate isOwn) {
    int shard = Shards.of(record.key(), shards);
    if (record.state() == TimerState.READY && !record.definition().queue()) {
      handlersReady.add(record.definition().handler());
    } else if (record.state() == TimerState.READY) {
      ready.add(record.key().namespace() + "\t" + record.definition().handler());
    } else if (record.isIndexed()
        && record.fireAt() - record.changedAt() < NEAR_MILLIS
        && !isOwn.test(shard)) {
      added.merge(shard, record.fireAt(), Math::min);
    }
  }

  public boolean isEmpty() {
    return added.isEmpty() && ready.isEmpty() && handlersReady.isEmpty();
  }

  public String text() {
    StringBuilder text = new StringBuilder();
    added.forEach((shard, fireAt) -> add(text, "A\t" + shard + "\t" + fireAt));
    ready.forEach(queue -> add(text, "R\t" + queue));
    handlersReady.forEach(handler -> add(text, "H\t" + handler));
    return text.toString();
  }

  private static void add(StringBuilder text, String line) {
    if (text.length() + line.length() < MAX_LENGTH) {
      text.append(line).append('\n');
    }
  }

  private static final Pattern ADDED = Pattern.compile("A\t([0-9]{1,9})\t(-?[0-9]{1,18})");

  /**
   * Passes the lines of a text to the engine. Ignores unknown and malformed lines, because any user
   * of the database may send a notification.
   */
  public static void tell(String text, StoreListener engine, Runnable onPause) {
    for (String line : text.split("\n", -1)) {
      String[] parts = line.split("\t", -1);
      Matcher added = ADDED.matcher(line);
      if (parts[0].equals("P")) {
        onPause.run();
      } else if (added.matches()) {
        engine.added(Integer.parseInt(added.group(1)), Long.parseLong(added.group(2)));
      } else if (parts.length == 3 && parts[0].equals("R")) {
        engine.ready(parts[1], parts[2]);
      } else if (parts.length == 2 && parts[0].equals("H")) {
        engine.ready(parts[1]);
      }
    }
  }
}
