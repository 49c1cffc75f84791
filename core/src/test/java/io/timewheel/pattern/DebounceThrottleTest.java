// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DebounceThrottleTest {
  private final Rig rig = new Rig();
  private final List<String> actions = new ArrayList<>();
  private final Debounce<String> debounce = new Debounce<>(rig.timer, rig, ofMillis(10), this::act);
  private final Throttle<String> throttle = new Throttle<>(rig.timer, rig, ofMillis(10), this::act);

  private void act(String key) {
    actions.add(key + rig.nowMillis());
  }

  @Test
  void debouncedRunsOnceItsKeyIsQuiet() {
    for (int i = 0; i < 10; i++) {
      debounce.call("a");
      if (i < 2) {
        debounce.call("b");
      }
      rig.liveMillis(7);
    }
    rig.liveMillis(100);
    assertThat(actions).containsExactly("b17", "a73");
    debounce.call("a");
    rig.liveMillis(10);
    assertThat(actions).containsExactly("b17", "a73", "a180");
  }

  @Test
  void throttledRunsOnceInItsInterval() {
    for (int i = 0; i < 10; i++) {
      throttle.call("a");
      rig.liveMillis(3);
    }
    throttle.call("b");
    rig.liveMillis(100);
    assertThat(actions).containsExactly("a10", "a22", "a34", "b40");
  }

  /** A call while its action waits for the executor, or runs, is followed by another. */
  @Test
  void anActionBeginsAfterEveryCall() {
    throttle.call("a");
    debounce.call("d");
    rig.advanceMillis(10);
    throttle.call("a");
    debounce.call("d");
    rig.runTasks();
    rig.liveMillis(10);
    assertThat(actions).containsExactlyInAnyOrder("a10", "d10", "a20", "d20");
  }

  @Test
  void whatIsCancelledOrClosedLeavesNothing() {
    throttle.call("a");
    debounce.call("a");
    assertThat(throttle.size() + debounce.size()).isEqualTo(2);
    assertThat(throttle.cancel("a")).isTrue();
    assertThat(throttle.cancel("a")).isFalse();
    assertThat(debounce.cancel("a")).isTrue();
    assertThat(debounce.cancel("a")).isFalse();
    rig.assertNothingPending();
    throttle.call("a");
    debounce.call("a");
    throttle.close();
    debounce.close();
    rig.liveMillis(20);
    assertThat(actions).isEmpty();
    assertThatIllegalStateException().isThrownBy(() -> throttle.call("a"));
    assertThatIllegalStateException().isThrownBy(() -> debounce.call("a"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Debounce<>(rig.timer, rig, ZERO, this::act))
        .withMessage("quiet: PT0S (expected: more than zero)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Throttle<>(rig.timer, rig, ZERO, this::act))
        .withMessage("interval: PT0S (expected: more than zero)");
  }
}
