// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.model.TimerState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The order in which changes were requested and committed, as a {@link CutChild} logs it. A store
 * that has lost the end of its log must contain every change that was committed before the request
 * of any change that it contains.
 *
 * <pre>
 * S number id kind     a change was requested: schedule, move, cancel, done
 * K number             the change was committed
 * </pre>
 *
 * A timer has one change in progress at a time. The due time that a schedule or a move set
 * identifies it, {@link #dueMillis}.
 */
final class Changes {
  /** A due time so far in the future that the timer does not fire. */
  private static final long FAR_MILLIS = 4_102_444_800_000L;

  private static final int NEVER = Integer.MAX_VALUE;

  private final Map<Integer, Change> byNumber = new HashMap<>();
  private final Map<String, List<Change>> byId = new HashMap<>();
  private int position;

  /** The kind of a change. */
  enum Kind {
    SCHEDULE,
    MOVE,
    CANCEL,
    DONE
  }

  /** A change, with the numbers of its two lines. */
  private static final class Change {
    final int number;
    final String id;
    final Kind kind;
    final int askedAt;
    int acknowledgedAt = NEVER;

    Change(int number, String id, Kind kind, int askedAt) {
      this.number = number;
      this.id = id;
      this.kind = kind;
      this.askedAt = askedAt;
    }

    @Override
    public String toString() {
      return kind + " " + number + " of " + id;
    }
  }

  /** The state of a timer in a store. */
  record Found(long dueMillis, TimerState state) {}

  /** The content of a damaged store. */
  record Verdict(int there, int acknowledgedButGone, List<String> violations) {}

  /** Returns the due time that identifies a change. */
  static long dueMillis(int number) {
    return FAR_MILLIS + number;
  }

  /** Adds a line of the log. */
  void line(String line) {
    String[] words = line.split(" ", -1);
    int number = Integer.parseInt(words[1]);
    if (words[0].equals("S")) {
      Change change = new Change(number, words[2], Kind.valueOf(words[3]), position);
      byNumber.put(number, change);
      byId.computeIfAbsent(change.id, id -> new ArrayList<>()).add(change);
    } else {
      Change change = byNumber.get(number);
      if (change == null) {
        throw new IllegalArgumentException(line + " (expected: the number of a change)");
      }
      change.acknowledgedAt = position;
    }
    position++;
  }

  /** Compares the store with the changes, and returns the verdict. */
  Verdict judge(Map<String, Found> found) {
    List<String> violations = new ArrayList<>();
    List<Change> gone = new ArrayList<>();
    @Nullable Change latest = null;
    int there = 0;
    for (Map.Entry<String, List<Change>> timer : byId.entrySet()) {
      List<Change> changes = timer.getValue();
      int present = present(changes, found.get(timer.getKey()), violations);
      for (Change change : changes.subList(0, present)) {
        there++;
        if (latest == null || change.askedAt > latest.askedAt) {
          latest = change;
        }
      }
      gone.addAll(changes.subList(present, changes.size()));
    }
    int acknowledgedButGone = 0;
    for (Change change : gone) {
      acknowledgedButGone += change.acknowledgedAt == NEVER ? 0 : 1;
      if (latest != null && change.acknowledgedAt < latest.askedAt) {
        violations.add(change + " is missing, and was committed before the request for " + latest);
      }
    }
    for (String id : found.keySet()) {
      if (!byId.containsKey(id)) {
        violations.add(id + " exists, and was never requested");
      }
    }
    return new Verdict(there, acknowledgedButGone, violations);
  }

  /** Returns how many changes of one timer, counted from the first, a store contains. */
  private static int present(List<Change> changes, @Nullable Found found, List<String> violations) {
    if (found == null) {
      return 0;
    }
    for (int i = changes.size() - 1; i >= 0; i--) {
      if (isLast(changes, i, found)) {
        return i + 1;
      }
    }
    violations.add(found + " does not match a change of " + changes.get(0).id);
    return 0;
  }

  /** Returns whether the stored timer matches the result of this change. */
  private static boolean isLast(List<Change> changes, int at, Found found) {
    Change change = changes.get(at);
    boolean near = changes.get(0).id.startsWith(CutChild.NEAR);
    return switch (change.kind) {
      case SCHEDULE, MOVE ->
          found.state != TimerState.CANCELLED
              && found.state != TimerState.COMPLETED
              && (near || found.dueMillis == dueMillis(change.number));
      case CANCEL ->
          found.state == TimerState.CANCELLED
              && found.dueMillis == dueMillis(changes.get(at - 1).number);
      case DONE -> found.state == TimerState.COMPLETED;
    };
  }
}
