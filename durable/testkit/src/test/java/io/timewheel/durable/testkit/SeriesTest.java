// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.Firing;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.ScheduleResult.Outcome;
import io.timewheel.durable.TimerSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The runs of a timer that recurs: when the series begins, and what leaves it as it is. */
class SeriesTest {
  private static final Instant START = DurableTestkit.START; // at midnight
  private static final Duration HOUR = Duration.ofHours(1);

  private final DurableTestkit kit = DurableTestkit.create();
  private final InMemoryTimerStore store = InMemoryTimerStore.create();
  private final List<Long> firedMinutes = new ArrayList<>();
  private final DurableTimer timer =
      kit.start(store, builder -> builder.handler("h", this::handle));

  private void handle(Firing firing) {
    firedMinutes.add(Duration.between(START, kit.now()).toMinutes());
  }

  private static TimerSpec spec() {
    return TimerSpec.of("ns", "a").handler("h");
  }

  private void advance(long minutes) {
    kit.advanceBy(Duration.ofMinutes(minutes));
  }

  // The first run

  @Test
  void aRateBeginsAtTheTimeThatWasAskedFor() {
    timer.schedule(spec().at(START.plusSeconds(90 * 60)).every(HOUR));
    advance(240);
    assertThat(firedMinutes).containsExactly(90L, 150L, 210L);
  }

  @Test
  void anotherFirstRunIsAnotherTimer() {
    timer.schedule(spec().at(START.plusSeconds(86_400)).every(HOUR));
    Instant soon = START.plusSeconds(60);
    assertThat(timer.schedule(spec().at(soon).every(HOUR)).outcome()).isEqualTo(Outcome.REPLACED);
    assertThat(timer.schedule(spec().at(soon).every(HOUR)).outcome()).isEqualTo(Outcome.UNCHANGED);
    advance(2);
    assertThat(firedMinutes).containsExactly(1L);
    assertThat(timer.schedule(spec().at(soon).every(HOUR)).outcome()).isEqualTo(Outcome.UNCHANGED);
    assertThat(timer.schedule(spec().every(HOUR)).outcome()).isEqualTo(Outcome.REPLACED);
  }

  @Test
  void aCronRunsAtItsOwnTimesOnlyAndNotBeforeTheFirst() {
    timer.schedule(spec().at(START.plusSeconds(90 * 60)).cron("0 * * * *", ZoneOffset.UTC));
    advance(241);
    assertThat(firedMinutes).containsExactly(120L, 180L, 240L);
  }

  @Test
  void aCronBeginsAtATimeThatIsItsOwn() {
    TimerSpec spec = spec().at(START.plus(HOUR)).cron("0 * * * *", ZoneOffset.UTC);
    assertThat(timer.preview(spec, 2))
        .containsExactly(START.plus(HOUR), START.plus(HOUR).plus(HOUR));
    timer.schedule(spec);
    advance(61);
    assertThat(firedMinutes).containsExactly(60L);
  }

  @Test
  void firstRunsThatArePastWereMissed() {
    advance(150);
    timer.schedule(spec().at(START).cron("0 * * * *", ZoneOffset.UTC));
    timer.schedule(TimerSpec.of("ns", "rate").handler("h").at(START.plusSeconds(1)).every(HOUR));
    kit.settle();
    assertThat(firedMinutes).containsExactly(150L, 150L); // one for all
    advance(31);
    assertThat(firedMinutes).containsExactly(150L, 150L, 180L, 180L);
  }
}
