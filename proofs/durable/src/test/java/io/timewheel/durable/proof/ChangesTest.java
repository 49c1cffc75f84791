// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.proof.Changes.Found;
import io.timewheel.durable.proof.Changes.Verdict;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Verifies the distinction between a prefix of the committed changes and other content. */
class ChangesTest {
  private final Changes changes = new Changes();

  private void log(String... lines) {
    for (String line : lines) {
      changes.line(line);
    }
  }

  private static Found scheduled(int number) {
    return new Found(Changes.dueMillis(number), TimerState.SCHEDULED);
  }

  @Test
  void acceptsAPrefix() {
    log("S 1 a SCHEDULE", "K 1", "S 2 a MOVE", "K 2", "S 3 b SCHEDULE", "K 3");
    assertThat(changes.judge(Map.of())).isEqualTo(new Verdict(0, 3, List.of()));
    assertThat(changes.judge(Map.of("a", scheduled(1))).violations()).isEmpty();
    assertThat(changes.judge(Map.of("a", scheduled(2))).acknowledgedButGone()).isEqualTo(1);
    assertThat(changes.judge(Map.of("a", scheduled(2), "b", scheduled(3))).there()).isEqualTo(3);
  }

  @Test
  void findsAHole() {
    log("S 1 a SCHEDULE", "K 1", "S 2 b SCHEDULE", "K 2");
    assertThat(changes.judge(Map.of("b", scheduled(2))).violations()).hasSize(1);
  }

  @Test
  void findsATimerThatWentBack() {
    log("S 1 a SCHEDULE", "K 1", "S 2 a CANCEL", "K 2", "S 3 b SCHEDULE");
    assertThat(changes.judge(Map.of("a", scheduled(1), "b", scheduled(3))).violations()).hasSize(1);
  }

  @Test
  void acceptsAnyOrderOfConcurrentChanges() {
    log("S 1 a SCHEDULE", "S 2 b SCHEDULE", "K 1", "K 2");
    assertThat(changes.judge(Map.of("b", scheduled(2))).violations()).isEmpty();
  }

  @Test
  void findsATimerThatWasNeverRequested() {
    log("S 1 a SCHEDULE", "K 1");
    assertThat(changes.judge(Map.of("a", scheduled(7))).violations()).isNotEmpty();
    assertThat(changes.judge(Map.of("a", scheduled(1), "c", scheduled(1))).violations()).hasSize(1);
  }
}
