// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.maintenance;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.maintenance.VerifyReport;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects problems in the tables. Keeps those that {@link Repair} can fix, up to a limit. */
final class Findings {
  private static final int MAX_KEPT = 10_000;

  /** Kinds of problem that concern one timer and that {@link Repair} can fix. */
  enum Kind {
    /** A row of the ready index whose timer is not ready, or has another row. */
    ORPHAN,
    /** A ready timer without a row in the ready index. */
    UNLISTED,
    /** A timer in the shard of another key. */
    MISPLACED,
    /** A key that has more than one row, at least one of them in the history. */
    REPEATED,
    /** An unreadable answer of a request. */
    ANSWER
  }

  /** A row of the ready index. */
  record ReadyRow(ReadyIndex index, TimerKey key, String target, long readyAt) {}

  /**
   * A problem of one timer.
   *
   * @param row the row of the ready index; null unless it is an ORPHAN
   * @param request the ID of the request; null unless it is an ANSWER
   */
  record Problem(
      Kind kind, TimerKey key, String text, @Nullable ReadyRow row, @Nullable String request) {}

  /** A counter that differs from the number of rows by {@code missing}. */
  record Difference(String scope, TimerState state, long missing, String text) {}

  final List<Problem> problems = new ArrayList<>();
  final List<Difference> differences = new ArrayList<>();

  private final List<String> texts = new ArrayList<>();
  private long timers;
  private long found;

  void timers(long number) {
    timers += number;
  }

  /** Adds a problem that a repair cannot fix. */
  void add(Object where, String what) {
    text(where + ": " + what);
  }

  void add(Kind kind, TimerKey key, String what, @Nullable ReadyRow row) {
    String text = key + ": " + what;
    add(new Problem(kind, key, text, row, null));
  }

  void addAnswer(TimerKey key, String request, String what) {
    String text = key + ": the answer of request " + request + " " + what;
    add(new Problem(Kind.ANSWER, key, text, null, request));
  }

  private void add(Problem problem) {
    text(problem.text());
    if (problems.size() < MAX_KEPT) {
      problems.add(problem);
    }
  }

  void count(String scope, TimerState state, long counted, long rows) {
    String text =
        "the counter of %s in state %s: %d (expected: %d)"
            .formatted(Scopes.describe(scope), state, counted, rows);
    text(text);
    differences.add(new Difference(scope, state, rows - counted, text));
  }

  /** Adds the text of a problem from another collection. */
  void text(String text) {
    found++;
    if (texts.size() < VerifyReport.MAX_TEXTS) {
      texts.add(text);
    }
  }

  /** {@return true if more problems of timers were found than kept} */
  boolean isCapped() {
    return problems.size() == MAX_KEPT;
  }

  VerifyReport report() {
    return new VerifyReport(timers, found, texts);
  }
}
