// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Random operations on expirations and on a naive model, which looks at every value each tick. */
class ExpirationsPropertyTest {
  private record Waiting(int value, long timeoutMillis, long sinceMillis) {}

  @Property(tries = 300)
  void doesAsItsModel(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Rig rig = new Rig();
    List<String> expired = new ArrayList<>();
    Expirations<Integer, Integer> expirations =
        Expirations.builder(rig.timer, (Integer k, Integer v) -> expired.add(k + "=" + v))
            .executor(rig)
            .build();
    Map<Integer, Waiting> model = new HashMap<>();
    for (int i = 0; i < 300; i++) {
      int key = random.nextInt(8);
      Waiting waiting = model.get(key);
      long timeoutMillis = random.nextLong(1, random.nextInt(10) == 0 ? 200 : 20);
      Waiting next = new Waiting(i, timeoutMillis, rig.nowMillis());
      switch (random.nextInt(6)) {
        case 0 -> {
          assertThat(expirations.add(key, i, ofMillis(timeoutMillis))).isEqualTo(waiting == null);
          model.putIfAbsent(key, next);
        }
        case 1 -> {
          Integer former = expirations.replace(key, i, ofMillis(timeoutMillis));
          assertThat(former).isEqualTo(waiting == null ? null : (Integer) waiting.value);
          model.put(key, next);
        }
        case 2 -> {
          assertThat(expirations.complete(key))
              .isEqualTo(waiting == null ? null : (Integer) waiting.value);
          model.remove(key);
        }
        case 3, 4 -> {
          assertThat(expirations.touch(key)).isEqualTo(waiting != null);
          if (waiting != null) {
            model.put(key, new Waiting(waiting.value, waiting.timeoutMillis, rig.nowMillis()));
          }
        }
        default -> {
          long millis = random.nextLong(1, 30);
          List<String> due = new ArrayList<>();
          for (long t = 0; t < millis; t++) {
            rig.liveMillis(1);
            model.forEach((k, w) -> due(rig, k, w, due));
            model.values().removeIf(w -> rig.nowMillis() >= w.sinceMillis + w.timeoutMillis);
          }
          assertThat(expired).containsExactlyInAnyOrderElementsOf(due);
          expired.clear();
        }
      }
      assertThat(expirations.size()).isEqualTo(model.size());
      assertThat(rig.timer.pendingTimeouts()).as("one for each").isEqualTo(model.size());
    }
    assertThat(expirations.failAll()).hasSize(model.size());
    rig.assertNothingPending();
  }

  private static void due(Rig rig, int key, Waiting waiting, List<String> due) {
    if (rig.nowMillis() >= waiting.sinceMillis + waiting.timeoutMillis) {
      due.add(key + "=" + waiting.value);
    }
  }
}
