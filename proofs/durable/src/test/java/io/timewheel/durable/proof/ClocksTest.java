// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.DurableTestkit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Wrong clocks and suspended machines, with the store on disk. In the kit, the wheel's own time
 * continues while the wall clock jumps. A suspended machine is a jump of the wall clock past a
 * wheel that stalled.
 */
@Tag("promise-46")
class ClocksTest {
  private static final Duration HELD = Duration.ofSeconds(5);

  @TempDir Path directory;

  private final DurableTestkit kit = DurableTestkit.create();
  private final List<String> fired = new ArrayList<>();
  private final List<String> tooEarly = new ArrayList<>();
  private TimerStore store;
  private DurableTimer scheduler;
  private Duration skew = Duration.ZERO;

  /** Starts the engine as after a boot that has set the clock. */
  private void start() {
    skew = Duration.ZERO;
    store = Stores.open(directory, Log.NONE);
    scheduler = kit.start(store, builder -> builder.handler("h", this::handle));
  }

  private void handle(Firing firing) {
    fired.add(firing.id());
    Duration early = Duration.between(kit.now().plus(skew), firing.scheduledAt());
    if (early.compareTo(HELD) > 0) { // the engine waits through a small jump back
      tooEarly.add(firing + " by " + early);
    }
  }

  private void jump(Duration by) {
    skew = skew.plus(by);
    kit.skew(scheduler, skew);
  }

  private void schedule(String id, Duration after) {
    scheduler.schedule(TimerSpec.of("ns", id).handler("h").after(after));
  }

  @Test
  void firesSoonAfterTheMachineWasSuspended() {
    start();
    schedule("a", Duration.ofMinutes(5));
    schedule("b", Duration.ofHours(5));
    jump(Duration.ofHours(1)); // the wall clock has continued, the wheel has not
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(fired).containsExactly("a");
    jump(Duration.ofHours(4));
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(fired).containsExactly("a", "b");
    kit.close(scheduler);
  }

  @Test
  void waitsOutASmallJumpBackAndFiresOnce() {
    start();
    schedule("a", Duration.ofSeconds(2));
    kit.advanceBy(Duration.ofSeconds(1));
    jump(Duration.ofSeconds(-4));
    kit.advanceBy(Duration.ofSeconds(3));
    assertThat(fired).isEmpty();
    kit.advanceBy(Duration.ofSeconds(3));
    assertThat(fired).containsExactly("a");
    kit.close(scheduler);
  }

  @Test
  void acceptsALargeJumpBackAndFiresNothingTwice() {
    start();
    jump(Duration.ofDays(365 * 73));
    schedule("in2099", Duration.ofSeconds(1));
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(fired).containsExactly("in2099");
    jump(Duration.ofDays(-365 * 73));
    kit.advanceBy(Duration.ofSeconds(2));
    schedule("now", Duration.ofSeconds(1));
    kit.advanceBy(Duration.ofSeconds(3));
    assertThat(fired).containsExactly("in2099", "now");
    kit.close(scheduler);
  }

  @Test
  void firesEverythingOnceAndNothingEarlyWhileTheClockJumps() {
    Random random = new Random(1);
    start();
    for (int i = 0; i < 200; i++) {
      schedule("t" + i, Duration.ofSeconds(random.nextInt(3_000)));
    }
    for (int i = 0; i < 100; i++) {
      jump(Duration.ofSeconds(random.nextInt(120) - 60));
      kit.advanceBy(Duration.ofSeconds(1 + random.nextInt(60)));
      if (random.nextInt(10) == 0) {
        kit.kill(scheduler);
        store.close();
        start();
      }
    }
    kit.advanceBy(Duration.ofHours(2));
    assertThat(fired).hasSize(200).doesNotHaveDuplicates();
    assertThat(tooEarly).isEmpty();
    assertThat(scheduler.counts().get("ns")).containsOnlyKeys(TimerState.COMPLETED);
    kit.close(scheduler);
  }
}
