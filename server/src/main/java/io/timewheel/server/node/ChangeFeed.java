// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The latest changes of timers, numbered from 1, up to a capacity. Writers never wait for readers:
 * a slow reader finds that old changes were dropped.
 */
public final class ChangeFeed {
  public static final int CAPACITY = 8_192;

  private static final Pattern ID = Pattern.compile("([0-9a-z]{1,13})-([0-9a-z]{1,12})");
  private static final int RADIX = 36;

  private final Change[] ring;
  private final String session;
  private long next = 1;

  /**
   * A change of a timer.
   *
   * @param number its number in the feed
   * @param atMillis the time of the change
   * @param key the timer
   * @param version its version after the change
   * @param state its state after the change
   * @param kind the kind of change
   */
  public record Change(
      long number, long atMillis, TimerKey key, long version, TimerState state, String kind) {}

  /**
   * Creates an empty feed.
   *
   * @param startedAtMillis the start of the process, which makes its IDs unique
   * @param capacity the number of changes to keep
   */
  public ChangeFeed(long startedAtMillis, int capacity) {
    session = Long.toString(startedAtMillis, RADIX);
    ring = new Change[capacity];
  }

  public synchronized void add(
      long atMillis, TimerKey key, long version, TimerState state, String kind) {
    ring[(int) (next % ring.length)] = new Change(next, atMillis, key, version, state, kind);
    next++;
  }

  /** {@return the number that the next change will have} */
  public synchronized long next() {
    return next;
  }

  /** {@return the number of the oldest change that is kept; of the next change if there is none} */
  public synchronized long oldest() {
    return Math.max(1, next - ring.length);
  }

  /**
   * Reads some changes in order.
   *
   * @param from the number of the first change
   * @param until the number after the last change
   * @return those that are still kept
   */
  public synchronized List<Change> read(long from, long until) {
    List<Change> changes = new ArrayList<>();
    long end = Math.min(until, next);
    for (long number = Math.max(from, oldest()); number < end; number++) {
      changes.add(ring[(int) (number % ring.length)]);
    }
    return changes;
  }

  /** {@return the ID of a change, for Last-Event-ID} */
  public String id(long number) {
    return session + '-' + Long.toString(number, RADIX);
  }

  /** {@return the number after the change with an ID; 0 if this process never returned that ID} */
  public long resumeAt(String id) {
    Matcher matcher = ID.matcher(id);
    if (!matcher.matches() || !matcher.group(1).equals(session)) {
      return 0;
    }
    long number = Long.parseLong(matcher.group(2), RADIX) + 1;
    return number <= next() ? number : 0;
  }
}
