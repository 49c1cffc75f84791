// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CoalescerTest {
  private final Rig rig = new Rig();
  private final List<String> actions = new ArrayList<>();
  private final Coalescer<String> debounced =
      Coalescer.debounced(rig.timer, rig, ofMillis(10), this::act).onError(rig::error).build();
  private final Coalescer<String> throttled =
      Coalescer.throttled(rig.timer, rig, ofMillis(10), this::act).onError(rig::error).build();

  private void act(String key) {
    actions.add(key + rig.nowMillis());
    if (key.equals("bad")) {
      throw new IllegalStateException("acted badly");
    }
  }

  @Test
  @Tag("promise-Coalescer")
  void debouncedRunsOnceItsKeyIsQuiet() {
    for (int i = 0; i < 10; i++) {
      debounced.call("a");
      if (i < 2) {
        debounced.call("b");
      }
      rig.liveMillis(7);
    }
    rig.liveMillis(100);
    assertThat(actions).containsExactly("b17", "a73");
    debounced.call("a");
    rig.liveMillis(10);
    assertThat(actions).containsExactly("b17", "a73", "a180");
  }

  @Test
  @Tag("promise-Coalescer")
  void throttledRunsOnceInItsInterval() {
    for (int i = 0; i < 10; i++) {
      throttled.call("a");
      rig.liveMillis(3);
    }
    throttled.call("b");
    rig.liveMillis(100);
    assertThat(actions).containsExactly("a10", "a22", "a34", "b40");
  }

  /** If a call is made while its action waits for the executor, or runs, another action follows. */
  @Test
  @Tag("promise-Coalescer")
  void beginsAnActionAfterEveryCall() {
    throttled.call("a");
    debounced.call("d");
    rig.advanceMillis(10);
    throttled.call("a");
    debounced.call("d");
    rig.runTasks();
    rig.liveMillis(10);
    assertThat(actions).containsExactlyInAnyOrder("a10", "d10", "a20", "d20");
  }

  private Runnable onHash = () -> {};

  /** The call is made at the moment when the key is taken. */
  @Test
  void callThatMeetsTheExpiryIsFollowedByItsAction() {
    Object key =
        new Object() {
          @Override
          public int hashCode() {
            onHash.run();
            return 1;
          }
        };
    Coalescer<Object> late =
        Coalescer.debounced(rig.timer, rig, ofMillis(10), k -> act("a")).build();
    late.call(key);
    rig.onFire =
        () ->
            onHash =
                () -> {
                  onHash = () -> {};
                  late.call(key);
                  act("called");
                };
    rig.advanceMillis(10);
    rig.onFire = () -> {};
    rig.runTasks();
    rig.liveMillis(50);
    assertThat(actions).containsExactly("called10", "a20");
    assertThat(late.size()).isZero();
  }

  @Test
  void actionThatThrowsAffectsNoOther() {
    for (Coalescer<String> some : List.of(debounced, throttled)) {
      some.call("bad");
      some.call("good");
    }
    rig.liveMillis(10);
    assertThat(actions).containsExactlyInAnyOrder("bad10", "good10", "bad10", "good10");
    assertThat(rig.errorMessages()).containsExactly("acted badly", "acted badly");
  }

  @Test
  void cancelAndCloseLeaveNothingPending() {
    throttled.call("a");
    debounced.call("a");
    assertThat(throttled.size() + debounced.size()).isEqualTo(2);
    assertThat(throttled.cancel("a")).isTrue();
    assertThat(throttled.cancel("a")).isFalse();
    assertThat(debounced.cancel("a")).isTrue();
    assertThat(debounced.cancel("a")).isFalse();
    rig.assertNothingPending();
    throttled.call("a");
    debounced.call("a");
    throttled.close();
    debounced.close();
    rig.liveMillis(20);
    assertThat(actions).isEmpty();
    assertThatIllegalStateException().isThrownBy(() -> throttled.call("a"));
    assertThatIllegalStateException()
        .isThrownBy(() -> debounced.call("a"))
        .withMessage("this Coalescer is stopped");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Coalescer.debounced(rig.timer, rig, ZERO, this::act))
        .withMessage("quiet: PT0S (expected: more than zero)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Coalescer.throttled(rig.timer, rig, ZERO, this::act))
        .withMessage("interval: PT0S (expected: more than zero)");
  }

  @Test
  void pendingListsTheKeysThatWait() {
    throttled.call("a");
    throttled.call("b");
    throttled.call("b");
    assertThat(throttled.pending()).containsExactlyInAnyOrder("a", "b");
    rig.liveMillis(10);
    assertThat(throttled.pending()).isEmpty();
  }

  @Test
  void flushHandsOverWaitingActionsAtOnce() {
    debounced.call("a");
    rig.liveMillis(3);
    debounced.flush();
    rig.assertNothingPending();
    rig.runTasks();
    debounced.call("b");
    rig.liveMillis(10);
    assertThat(actions).containsExactly("a3", "b13");
  }

  /** A direct executor runs the action inside the flush, and the action may call its key again. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Tag("promise-Coalescer")
  void flushHandsOverEachWaitingActionOnce(boolean quiet) {
    int keys = 1_000;
    AtomicInteger count = new AtomicInteger();
    List<Coalescer<String>> self = new ArrayList<>();
    Consumer<String> again =
        key -> {
          if (count.incrementAndGet() <= 10 * keys) {
            self.get(0).call(key);
          }
        };
    self.add(
        quiet
            ? Coalescer.debounced(rig.timer, Runnable::run, ofMillis(10), again).build()
            : Coalescer.throttled(rig.timer, Runnable::run, ofMillis(10), again).build());
    for (int i = 0; i < keys; i++) {
      self.get(0).call("key" + i); // some share a bin of the map
    }
    self.get(0).flush();
    assertThat(count).hasValue(keys);
    assertThat(self.get(0).size()).as("called again").isEqualTo(keys);
  }

  @Test
  void flushAndCloseRefusesCallsAndLosesNone() {
    throttled.call("a");
    throttled.flushAndClose();
    assertThatIllegalStateException().isThrownBy(() -> throttled.call("a"));
    rig.runTasks();
    assertThat(actions).containsExactly("a0");
    rig.assertNothingPending();
  }

  @Test
  void handlerReceivesPatternAndKey() {
    throttled.call("bad");
    rig.liveMillis(10);
    assertThat(rig.errorKeys).containsExactly("Coalescer bad");
  }

  @Test
  void callRefusedByTheTimerLeavesNothing() {
    Rig full = new Rig(1);
    Coalescer<String> limited =
        Coalescer.throttled(full.timer, full, ofMillis(10), this::act).build();
    full.fillUp();
    assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> limited.call("a"));
    assertThat(limited.size()).isZero();
  }
}
