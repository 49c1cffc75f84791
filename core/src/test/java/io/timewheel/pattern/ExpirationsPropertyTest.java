// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;

class ExpirationsPropertyTest {
  private static final int KEYS = 8;

  /** When BAD expires, the listener throws; when AGAIN expires, the listener adds it again. */
  private static final int BAD = 3;

  private static final int AGAIN = 5;

  private record Waiting(int value, long timeoutMillis, long sinceMillis) {
    boolean isDue(long nowMillis) {
      return nowMillis >= sinceMillis + timeoutMillis;
    }
  }

  @Property(tries = 100)
  @Tag("promise-Expirations")
  void behavesLikeItsModel(@ForAll long seed) {
    new Expiry(seed).run(300);
  }

  private static final class Expiry extends Program {
    private final Expirations<Integer, Integer> expirations =
        Expirations.builder(rig.timer, this::expired).executor(rig).onError(rig::error).build();
    private final Map<Integer, Waiting> model = new HashMap<>();
    private int next;

    Expiry(long seed) {
      super(seed);
    }

    private void expired(Integer key, Integer value) {
      notified.add(key + "=" + value);
      if (key == BAD) {
        throw new IllegalStateException();
      }
      if (key == AGAIN) {
        expirations.add(key, value, ofMillis(10));
      }
    }

    @Override
    void operate() {
      int key = random.nextInt(KEYS);
      Waiting waiting = model.get(key);
      Integer value = waiting == null ? null : (Integer) waiting.value;
      long timeoutMillis = random.nextLong(1, random.nextInt(10) == 0 ? 200 : 20);
      Waiting added = new Waiting(next++, timeoutMillis, rig.nowMillis());
      switch (random.nextInt(13)) {
        case 0, 1, 2 -> {
          assertThat(expirations.add(key, added.value, ofMillis(timeoutMillis)))
              .isEqualTo(waiting == null);
          model.putIfAbsent(key, added);
        }
        case 3, 4 -> {
          assertThat(expirations.replace(key, added.value, ofMillis(timeoutMillis)))
              .isEqualTo(value);
          model.put(key, added);
        }
        case 5, 6 -> {
          assertThat(expirations.complete(key)).isEqualTo(value);
          model.remove(key);
        }
        case 7 -> removeAll(random.nextInt(KEYS));
        default -> {
          assertThat(expirations.touch(key)).isEqualTo(waiting != null);
          model.computeIfPresent(
              key, (k, w) -> new Waiting(w.value, w.timeoutMillis, rig.nowMillis()));
        }
      }
    }

    private void removeAll(int from) {
      Map<Integer, Integer> wanted = new HashMap<>();
      model.forEach((key, waiting) -> wanted.put(key, waiting.value));
      wanted.keySet().removeIf(key -> key < from);
      assertThat(expirations.removeAll((key, value) -> key >= from))
          .containsExactlyInAnyOrderElementsOf(wanted.entrySet());
      model.keySet().removeAll(wanted.keySet());
    }

    @Override
    void tick() {
      List<Map.Entry<Integer, Waiting>> due = new ArrayList<>();
      model.forEach(
          (key, waiting) -> {
            if (waiting.isDue(rig.nowMillis())) {
              due.add(Map.entry(key, waiting));
            }
          });
      model.values().removeIf(waiting -> waiting.isDue(rig.nowMillis()));
      due.forEach(entry -> handOff(() -> tell(entry.getKey(), entry.getValue().value)));
    }

    private void tell(int key, int value) {
      expected.add(key + "=" + value);
      if (key == BAD) {
        throwsError();
      }
      if (key == AGAIN) {
        model.putIfAbsent(key, new Waiting(value, 10, rig.nowMillis()));
      }
    }

    @Override
    void check() {
      assertThat(expirations.size()).isEqualTo(model.size());
      assertThat(rig.timer.pendingTimeouts()).as("one for each").isEqualTo(model.size());
      assertThat(expirations.oldest())
          .isEqualTo(
              model.values().stream()
                  .map(waiting -> ofMillis(rig.nowMillis() - waiting.sinceMillis))
                  .max(Duration::compareTo));
    }

    @Override
    void end() {
      removeAll(0);
    }
  }
}
