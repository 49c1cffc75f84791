// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.api.StatsAnswer;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests the traffic of single namespaces, second by second on a clock of the test. */
class NamespaceTrafficTest {
  private static final Instant START = Instant.parse("2026-12-01T09:00:00Z");

  private final NamespaceTraffic traffic = new NamespaceTraffic();
  private Instant now = START;

  private void pass(Duration time) {
    now = now.plus(time);
    traffic.sample(now);
  }

  private void fire(String namespace, int times) {
    for (int i = 0; i < times; i++) {
      traffic.count(namespace, each -> each.fired.increment());
    }
  }

  private NamespaceTraffic.Seen of(String... names) {
    return requireNonNull(seen(names));
  }

  private NamespaceTraffic.@Nullable Seen seen(String... names) {
    return traffic.of(Set.of(names), now);
  }

  @Test
  void namespacesAreCountedApartAndSummed() {
    fire("a", 1);
    fire("b", 1);
    pass(Duration.ZERO);
    fire("a", 10);
    fire("b", 20);
    traffic.count("a", each -> each.lags.add(3));
    traffic.count("b", each -> each.lags.add(50));
    pass(Duration.ofSeconds(10));
    assertThat(of("a").rates().fired()).isEqualTo(1);
    assertThat(of("a").lag().max()).isEqualTo(Duration.ofMillis(3));
    assertThat(of("a", "b", "none").rates().fired()).isEqualTo(3);
    assertThat(of("a", "b").lag().count()).isEqualTo(2);
    assertThat(of("a", "b").minutes()).extracting(StatsAnswer.Minute::fired).containsExactly(32L);
    assertThat(requireNonNull(traffic.of(null, now)).rates().fired()).isEqualTo(3);
    assertThat(of("none").minutes()).isEmpty();
    assertThat(of("none").rates()).isEqualTo(new StatsAnswer.Rates(0, 0, 0));
  }

  @Test
  void minutesOfNamespacesAreAlignedByTime() {
    fire("a", 1);
    pass(Duration.ZERO);
    pass(Duration.ofMinutes(1));
    fire("b", 2);
    pass(Duration.ofSeconds(1));
    assertThat(of("a", "b").minutes())
        .extracting(StatsAnswer.Minute::fired)
        .containsExactly(1L, 2L);
    assertThat(of("b").minutes())
        .extracting(StatsAnswer.Minute::at)
        .containsExactly(START.plusSeconds(60));
  }

  @Test
  void aFullTableMeasuresNoOtherNamespaceUntilOneIsIdleForAnHour() {
    for (int i = 0; i < NamespaceTraffic.MAX_NAMESPACES; i++) {
      fire("n" + i, 1);
    }
    pass(Duration.ZERO);
    assertThat(seen("late")).as("no count was refused yet").isNotNull();
    fire("late", 1);
    pass(Duration.ofSeconds(1));
    assertThat(seen("late")).isNull();
    assertThat(seen("n0")).isNotNull();
    assertThat(requireNonNull(traffic.of(null, now)).minutes().get(0).fired())
        .isEqualTo(NamespaceTraffic.MAX_NAMESPACES + 1L);

    pass(Duration.ofMinutes(60));
    pass(Duration.ofMinutes(1));
    fire("late", 5);
    pass(Duration.ofSeconds(1));
    assertThat(of("late").minutes()).extracting(StatsAnswer.Minute::fired).containsExactly(5L);
  }
}
