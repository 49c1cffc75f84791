// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Test;
import org.openjdk.jol.info.GraphLayout;

/**
 * Measures the memory of an entry and everything reachable from it: the timeout, and the node or
 * place in the map. Keys and values are excluded: they are in a table that exists before.
 */
@SuppressWarnings("FutureReturnValueIgnored")
class MemoryTest {
  /** Fills the table of the map to the same part as 10,000 entries do. */
  private static final int ENTRIES = 1_250;

  private final Rig rig = new Rig();
  private final Integer[] keys = new Integer[ENTRIES];

  MemoryTest() {
    for (int i = 0; i < ENTRIES; i++) {
      keys[i] = i + 1_000;
    }
  }

  static long bytes(Object... roots) {
    return GraphLayout.parseInstance(roots).totalSize();
  }

  private double bytesPerEntry(Object pattern, IntConsumer add) {
    // The timer makes its slots on demand, so they are not part of an entry.
    for (int i = 0; i < 64; i++) {
      rig.timer.newTimeout(timeout -> {}, Duration.ofSeconds(i + 1));
    }
    long before = bytes(pattern, rig.timer, keys);
    for (int i = 0; i < ENTRIES; i++) {
      add.accept(i);
    }
    return (double) (bytes(pattern, rig.timer, keys) - before) / ENTRIES;
  }

  /** The table of the map, here 6.6 bytes per entry, is excluded. */
  private static void assertBytes(double measured, int claimed) {
    assertThat(measured).isBetween(claimed - 8.0, claimed + 8.0);
  }

  @Test
  void expirationTakes128Bytes() {
    Expirations<Integer, Integer> expirations =
        Expirations.builder(rig.timer, (Integer key, Integer value) -> {}).executor(rig).build();
    assertBytes(
        bytesPerEntry(expirations, i -> expirations.add(keys[i], keys[i], Duration.ofMinutes(1))),
        128);
  }

  @Test
  void requestTakesAtMost160Bytes() {
    Requests<Integer> requests = Requests.<Integer>builder(rig.timer).executor(rig).build();
    Requests.Channel<Integer> channel = requests.channel();
    assertBytes(bytesPerEntry(requests, i -> channel.start(i, Duration.ofMinutes(1))), 152);
  }

  @Test
  void retryTakes128Bytes() {
    Retries<Integer> retries =
        Retries.builder(rig.timer, rig, (Integer key, int attempt) -> {}).build();
    assertBytes(bytesPerEntry(retries, i -> retries.add(keys[i])), 128);
  }

  @Test
  void connectionTakes152Bytes() {
    Heartbeats<Integer> heartbeats =
        Heartbeats.<Integer>builder(rig.timer, rig)
            .onReadIdle(Duration.ofMinutes(1), key -> {})
            .build();
    assertBytes(bytesPerEntry(heartbeats, i -> heartbeats.add(keys[i])), 152);
  }

  @Test
  void leaseTakes72Bytes() {
    Leases<Integer> leases =
        Leases.builder(rig.timer, rig, Duration.ofMinutes(1), (List<Integer> all) -> all).build();
    assertBytes(bytesPerEntry(leases, i -> leases.hold(keys[i])), 72);
  }
}
