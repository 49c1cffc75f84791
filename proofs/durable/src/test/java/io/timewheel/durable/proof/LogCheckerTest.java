// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests {@link LogChecker} with a log for each fault that it must find in addition to those of the
 * history checker.
 */
class LogCheckerTest {
  @TempDir Path directory;

  private static final String SCHEDULED = "I 1 ns a SCHEDULE 100 7 -\nA 1 ns a CREATED 5\n";
  private static final String ENDED = "L ns a COMPLETED\nE\n";

  private static final String SCHEDULED_EFFECT = SCHEDULED.replace(" a ", " t1 ");
  private static final String BEGUN_TWICE = "B ns t1 5 100 1 110 7\nB ns t1 5 100 2 120 7\n";
  private static final String DONE = "L ns t1 COMPLETED\nE\n";

  private List<String> judge(String log) throws IOException {
    LogChecker checker = new LogChecker();
    String lines = log.replace("\n", Log.END + "\n");
    checker.read(Files.writeString(directory.resolve("log"), lines));
    return checker.judge(0);
  }

  private void assertFound(String violation, String log) throws IOException {
    assertThat(judge(log)).anySatisfy(found -> assertThat(found).contains(violation));
  }

  @Test
  void acceptsFiringsThatMatchTheirRequests() throws IOException {
    assertThat(judge(SCHEDULED + "B ns a 5 100 1 100 7\nC ns a 5 100\n" + ENDED)).isEmpty();
  }

  @Test
  void findsAnotherPayloadAndAnEarlierTime() throws IOException {
    assertFound("time or payload", SCHEDULED + "B ns a 5 100 1 100 8\n" + ENDED);
    assertFound("time or payload", SCHEDULED + "B ns a 5 99 1 100 7\n" + ENDED);
  }

  @Test
  void acceptsThePayloadOfACallWithoutAnAnswer() throws IOException {
    assertThat(
            judge(
                "I 2 ns a SCHEDULE 90 8 -\n"
                    + SCHEDULED
                    + "B ns a 4 90 1 90 8\n"
                    + "B ns a 5 100 1 100 7\n"
                    + ENDED))
        .isEmpty();
  }

  /** A run with more lag than its grace, which may be missed unless all runs are caught up. */
  @Test
  void findsAnOmittedRun() throws IOException {
    String rate = SCHEDULED.replace(" a ", " rate-1 ");
    String cancelled = "I 2 ns rate-1 CANCEL 0 0 -\nA 2 ns rate-1 CANCELLED 5\nE\n";
    assertThat(judge(rate + "B ns rate-1 5 100 1 900 7\nB ns rate-1 5 300 1 900 7\n" + cancelled))
        .isEmpty();
    assertFound(
        "no run between 100 and 500",
        rate + "B ns rate-1 5 100 1 900 7\nB ns rate-1 5 500 1 100000 7\n" + cancelled);
  }

  @Test
  void findsATimerThatStillWaitsAtTheEnd() throws IOException {
    assertFound("still RETRYING", SCHEDULED + "L ns a RETRYING\nE\n");
  }

  @Test
  void findsALogWithoutEnd() throws IOException {
    assertFound("did not report the remaining timers", SCHEDULED + "B ns a 5 100 1 100 7\n");
  }

  @Test
  void leavesOutALineThatAKillCutShort() throws IOException {
    assertThat(judge(SCHEDULED + "B ns a 5 100 1 100 7\n" + ENDED + "I 9 n")).isEmpty();
  }

  @Test
  void continuesAfterALineThatAKillCutShort() throws IOException {
    Path log = Files.writeString(directory.resolve("log"), "\nB ns a 5 100 1 100 3");
    try (Log next = new Log(log)) {
      next.end();
    }
    LogChecker checker = new LogChecker();
    checker.read(log);
    assertThat(checker.judge(0)).isEmpty();
    assertThat(checker.begun()).isZero();
  }

  /** The node stalled between the claim and the call, and another one took over. */
  @Test
  void leavesOutAnAttemptThatBeginsAfterALaterOne() throws IOException {
    assertThat(
            judge(
                SCHEDULED + "B ns a 5 100 2 110 7\nF ns a 5 100 2\nB ns a 5 100 1 120 7\n" + ENDED))
        .isEmpty();
    assertThat(
            judge(
                SCHEDULED + "B ns a 5 100 1 110 7\nF ns a 5 100 1\nB ns a 5 100 2 120 7\n" + ENDED))
        .anyMatch(violation -> violation.contains("begun again after its success"));
  }

  @Test
  void acceptsTheEffectOfTheLatestAttempt() throws IOException {
    assertThat(judge(SCHEDULED_EFFECT + BEGUN_TWICE + "T ns t1 5 100 2\n" + DONE)).isEmpty();
  }

  @Test
  void findsEffectsThatAreNotThereOnce() throws IOException {
    assertFound("done without its effect", SCHEDULED_EFFECT + BEGUN_TWICE + DONE);
    assertFound(
        "the effects of the attempts [2, 1]",
        SCHEDULED_EFFECT + BEGUN_TWICE + "T ns t1 5 100 2\nT ns t1 5 100 1\n" + DONE);
    assertFound(
        "the effect of attempt [1], and begun has 2",
        SCHEDULED_EFFECT + BEGUN_TWICE + "T ns t1 5 100 1\n" + DONE);
  }

  /** The later version has succeeded, and only the earlier one has an effect. */
  @Test
  void findsAnEffectOfAnEarlierVersionOnly() throws IOException {
    assertFound(
        "v6: done without its effect",
        SCHEDULED_EFFECT
            + "B ns t1 5 100 1 110 7\nT ns t1 5 100 1\n"
            + "I 2 ns t1 SCHEDULE 200 8 -\nA 2 ns t1 CREATED 6\nB ns t1 6 200 1 210 8\n"
            + DONE);
  }

  @Test
  void findsACompletionAfterATakeOver() throws IOException {
    assertFound(
        "attempt 1 completed, and 2 has begun",
        SCHEDULED + "B ns a 5 100 1 110 7\nB ns a 5 100 2 120 7\nF ns a 5 100 1\n" + ENDED);
  }
}
