// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.testkit.History;
import io.timewheel.durable.testkit.HistoryChecker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Checks the logs of one life: by {@link HistoryChecker}, and by further rules that the calls of
 * {@link Load} permit.
 *
 * <ul>
 *   <li>Each firing has the payload of the call that made its version, and is not before its due
 *       time.
 *   <li>A timer at a fixed rate that catches up all missed runs has omitted none.
 *   <li>At the end, no timer waits.
 *   <li>The effect of a handler in its transaction happens once: by the latest attempt, and by no
 *       attempt that failed or was overtaken.
 *   <li>A node that stalled for longer than its node lease may call a handler for an attempt that
 *       it claimed before. The node never completes an attempt that another node has taken over.
 * </ul>
 */
final class LogChecker {
  /** The prefix of the IDs of timers at a fixed rate. */
  static final String RATE = "rate-";

  /** The prefix of the IDs of timers whose handler writes into the ledger, in its transaction. */
  static final String EFFECT = "t";

  private final History history = new History();
  private final Map<TimerKey, TimerState> left = new HashMap<>();
  private final List<String> violations = new ArrayList<>();
  private final Map<Integer, Asked> asked = new HashMap<>();
  private final Map<TimerKey, List<Fired>> fired = new HashMap<>();
  private final Map<TimerKey, Map<Long, List<Asked>>> askedByVersion = new HashMap<>();
  private final Map<TimerKey, Map<Integer, Asked>> unanswered = new HashMap<>();
  private final Map<Run, Integer> begunAttempts = new HashMap<>();
  private final Map<Run, Integer> finishedAttempts = new HashMap<>();
  private final Map<Run, List<Integer>> effects = new HashMap<>();
  private boolean ended;
  private int overtaken;
  private int acknowledged;
  private int begun;
  private int completed;

  /** The request of a call. */
  private record Asked(long dueAtMillis, int content) {}

  /** The firing that a handler received. */
  private record Fired(long version, long scheduledAtMillis, int content) {}

  /** A run, which has attempts. */
  private record Run(TimerKey key, long version, long scheduledAtMillis) {
    static Run of(String[] words) {
      return new Run(LogChecker.key(words, 1), Long.parseLong(words[3]), Long.parseLong(words[4]));
    }
  }

  /** Adds a log. A line that a kill has cut short is left out. */
  void read(Path log) throws IOException {
    Files.readString(log, StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.endsWith(Log.END))
        .forEach(line -> line(line.substring(0, line.length() - Log.END.length())));
  }

  private void line(String line) {
    String[] words = line.split(" ", -1);
    switch (words[0]) {
      case "I" -> {
        int call = Integer.parseInt(words[1]);
        long dueAtMillis = Long.parseLong(words[5]);
        Asked what = new Asked(dueAtMillis, Integer.parseInt(words[6]));
        asked.put(call, what);
        unanswered.computeIfAbsent(key(words, 2), same -> new HashMap<>()).put(call, what);
        TimerKey key = key(words, 2);
        History.Call kind = History.Call.valueOf(words[4]);
        boolean recurs = kind == History.Call.SCHEDULE && key.id().startsWith(RATE);
        history.add(
            new History.Invoked(
                call,
                key,
                kind,
                dueAtMillis,
                recurs ? Load.RATE_MILLIS : 0,
                words[7].equals(Log.NONE) ? null : words[7]));
      }
      case "A" -> answered(words);
      case "B" -> began(words);
      case "C" -> {
        completed++;
        history.add(
            new History.Completed(
                key(words, 1), Long.parseLong(words[3]), Long.parseLong(words[4])));
      }
      case "F" -> {
        completed++;
        Run run = Run.of(words);
        history.add(new History.Completed(run.key, run.version, run.scheduledAtMillis));
        finishedAttempts.merge(run, Integer.parseInt(words[5]), Math::min);
      }
      case "T" ->
          effects
              .computeIfAbsent(Run.of(words), same -> new ArrayList<>())
              .add(Integer.parseInt(words[5]));
      case "L" -> left.put(key(words, 1), TimerState.valueOf(words[3]));
      case "E" -> ended = true;
      case "V" -> violations.add(line.substring(2));
      default -> throw new IllegalArgumentException(line);
    }
  }

  private void began(String[] words) {
    begun++;
    Run run = Run.of(words);
    int attempt = Integer.parseInt(words[5]);
    int latest = begunAttempts.merge(run, attempt, Math::max);
    if (attempt < latest) {
      overtaken++; // by a later attempt, which is judged instead
      return;
    }
    history.add(
        new History.Began(
            run.key, run.version, run.scheduledAtMillis, attempt, Long.parseLong(words[6])));
    fired
        .computeIfAbsent(run.key, same -> new ArrayList<>())
        .add(new Fired(run.version, run.scheduledAtMillis, Integer.parseInt(words[7])));
  }

  private void answered(String[] words) {
    int call = Integer.parseInt(words[1]);
    TimerKey key = key(words, 2);
    History.Answer answer = History.Answer.valueOf(words[4]);
    long version = Long.parseLong(words[5]);
    history.add(new History.Answered(call, key, answer, version));
    if (answer != History.Answer.UNKNOWN) {
      unanswered.getOrDefault(key, Map.of()).remove(call);
    }
    switch (answer) {
      case CREATED, REPLACED, UNCHANGED -> {
        acknowledged++;
        askedByVersion
            .computeIfAbsent(key, same -> new HashMap<>())
            .computeIfAbsent(version, same -> new ArrayList<>())
            .add(asked.get(call));
      }
      default -> {}
    }
  }

  private static TimerKey key(String[] words, int at) {
    return new TimerKey(words[at], words[at + 1]);
  }

  int acknowledged() {
    return acknowledged;
  }

  int begun() {
    return begun;
  }

  int completed() {
    return completed;
  }

  int effects() {
    return effects.size();
  }

  /**
   * Returns the number of attempts that started after a later attempt of the same run, on nodes
   * that stalled.
   */
  int overtaken() {
    return overtaken;
  }

  /**
   * Judges all logs.
   *
   * @param clockErrorMillis the largest amount by which the clocks of children were ahead
   * @return the violations, in words
   */
  List<String> judge(long clockErrorMillis) {
    List<String> found = new ArrayList<>(violations);
    found.addAll(new HistoryChecker(clockErrorMillis).check(history, left));
    if (!ended) {
      found.add("the last child did not report the remaining timers");
    }
    left.forEach(
        (key, state) -> {
          if (!state.isFinished() && state != TimerState.FAILED) {
            found.add(key + ": still " + state + " at the end");
          }
        });
    fired.forEach((key, firings) -> judgeFirings(key, firings, clockErrorMillis, found));
    finishedAttempts.forEach(
        (run, attempt) -> {
          int latest = begunAttempts.getOrDefault(run, 0);
          if (latest > attempt) {
            found.add(run + ": attempt " + attempt + " completed, and " + latest + " has begun");
          }
        });
    judgeEffects(found);
    return found;
  }

  private void judgeEffects(List<String> found) {
    Map<TimerKey, Long> latestVersions = new HashMap<>();
    effects.forEach(
        (run, attempts) -> {
          latestVersions.merge(run.key, run.version, Math::max);
          if (attempts.size() > 1) {
            found.add(run + ": the effects of the attempts " + attempts + " are there");
          }
          int latest = begunAttempts.getOrDefault(run, 0);
          if (latest != attempts.get(0)) {
            found.add(run + ": the effect of attempt " + attempts + ", and begun has " + latest);
          }
        });
    left.forEach(
        (key, state) -> {
          if (state == TimerState.COMPLETED && key.id().startsWith(EFFECT)) {
            long acknowledged =
                askedByVersion.getOrDefault(key, Map.of()).keySet().stream()
                    .mapToLong(Long::longValue)
                    .max()
                    .orElse(0);
            if (latestVersions.getOrDefault(key, -1L) < acknowledged) {
              found.add(key + " v" + acknowledged + ": done without its effect");
            }
          }
        });
  }

  private void judgeFirings(
      TimerKey key, List<Fired> firings, long clockErrorMillis, List<String> found) {
    Map<Long, List<Asked>> versions = askedByVersion.getOrDefault(key, Map.of());
    Map<Long, TreeSet<Long>> times = new HashMap<>();
    Set<Fired> judged = new HashSet<>();
    // A fixed rate continues in a new version after the clock has gone back.
    boolean continues = key.id().startsWith(RATE) && clockErrorMillis > 0;
    for (Fired firing : firings) {
      if (!judged.add(firing)) {
        continue;
      }
      times.computeIfAbsent(firing.version, same -> new TreeSet<>()).add(firing.scheduledAtMillis);
      List<Asked> possible = new ArrayList<>(versions.getOrDefault(firing.version, List.of()));
      possible.addAll(unanswered.getOrDefault(key, Map.of()).values());
      if (continues && !versions.containsKey(firing.version)) {
        versions.values().forEach(possible::addAll);
      }
      if (possible.stream().noneMatch(call -> isOf(firing, call))) {
        found.add(key + ": fires with the time or payload of another call: " + firing);
      }
    }
    if (key.id().startsWith(RATE)) {
      times.forEach((version, runs) -> judgeRate(key, version, runs, found));
    }
  }

  private static boolean isOf(Fired firing, Asked call) {
    return firing.scheduledAtMillis >= call.dueAtMillis
        && (call.content == 0 || call.content == firing.content);
  }

  private static void judgeRate(
      TimerKey key, long version, SortedSet<Long> runs, List<String> found) {
    long before = runs.first();
    for (long run : runs) {
      if (run - before > Load.RATE_MILLIS) {
        found.add(key + " v" + version + ": no run between " + before + " and " + run);
      }
      before = run;
    }
  }
}
