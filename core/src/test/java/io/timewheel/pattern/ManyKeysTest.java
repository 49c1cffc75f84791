// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the patterns with a hundred thousand keys: each key has exactly one outcome, and an
 * operation on one key costs nothing for the others.
 */
@SuppressWarnings("FutureReturnValueIgnored")
class ManyKeysTest {
  private final int keys = keys();
  private final Rig rig = new Rig();
  private final IllegalStateException failure = new IllegalStateException();

  /** How often an event happened to a key. */
  private final byte[] times = new byte[keys];

  int keys() {
    return 100_000;
  }

  private void assertEach(int expected) {
    assertEach(0, keys, expected);
  }

  private void assertEach(int from, int to, int expected) {
    for (int key = from; key < to; key++) {
      if (times[key] != expected) {
        assertThat(times[key]).as("key " + key).isEqualTo((byte) expected);
      }
    }
  }

  @Test
  @Tag("promise-Expirations")
  void everyValueExpiresOnce() {
    Expirations<Integer, Integer> expirations =
        Expirations.builder(rig.timer, 1_000, this::expired).executor(rig).build();
    for (int key = 0; key < keys; key++) {
      expirations.add(key, key, ofMillis(1 + key % 100));
    }
    for (int key = 0; key < keys; key += 4) {
      times[expirations.complete(key)]++;
    }
    rig.liveMillis(50);
    for (int key = 0; key < keys; key++) {
      expirations.touch(key);
    }
    rig.liveMillis(100);
    assertEach(1);
    assertThat(expirations.size()).isZero();
    rig.assertNothingPending();
    assertThat(rig.timer.stats().started())
        .as("re-armed once at most, however they were touched")
        .isLessThanOrEqualTo(2L * keys);
  }

  private void expired(List<Expirations.Expired<Integer, Integer>> batch) {
    batch.forEach(entry -> times[entry.value()]++);
  }

  /** Counts the work: timeouts that left the timer, and futures that were touched. */
  @Test
  @Tag("promise-Requests")
  void closingAChannelTouchesItsOwnRequests() {
    int channels = keys / 1_000;
    int each = keys / channels;
    Requests<Integer> requests = Requests.<Integer>builder(rig.timer).executor(rig).build();
    List<Requests.Channel<Integer>> open = new ArrayList<>();
    for (int i = 0; i < channels; i++) {
      Requests.Channel<Integer> channel = requests.channel();
      open.add(channel);
      for (int id = 0; id < each; id++) {
        int key = i * each + id;
        channel.start(id, Duration.ofSeconds(1)).whenComplete((answer, error) -> times[key]++);
      }
    }
    long cancelledBefore = rig.timer.stats().cancelled();

    assertThat(open.get(0).close(new IllegalStateException())).isEqualTo(each);

    assertThat(rig.timer.stats().cancelled()).isEqualTo(cancelledBefore + each);
    assertEach(0, each, 1);
    assertEach(each, keys, 0);
    for (int i = 1; i < channels - 10; i++) {
      for (int id = 0; id < each; id++) {
        open.get(i).complete(id, id);
      }
    }
    rig.liveMillis(1_000);
    assertEach(1);
    assertThat(requests.size()).isZero();
    rig.assertNothingPending();
  }

  @Test
  void everyKeyIsTriedUntilItSucceeds() {
    Retries<Integer> retries =
        Retries.asyncBuilder(rig.timer, rig, this::succeedsTheSecondTime)
            .backoff(Backoff.fixed(ofMillis(10)))
            .build();
    for (int key = 0; key < keys; key++) {
      retries.add(key);
      if (key % (keys / 10) == 0) {
        rig.liveMillis(1);
      }
    }
    rig.liveMillis(30);
    assertEach(2);
    assertThat(retries.size()).isZero();
    rig.assertNothingPending();
  }

  private CompletableFuture<Void> succeedsTheSecondTime(int key, int attempt) {
    return ++times[key] == 2
        ? CompletableFuture.completedFuture(null)
        : CompletableFuture.failedFuture(failure);
  }

  @Test
  void everyConnectionSendsOneHeartbeatPerInterval() {
    Heartbeats<Integer> heartbeats =
        Heartbeats.<Integer>builder(rig.timer, rig)
            .onWriteIdle(ofMillis(100), connection -> times[connection.key()]++)
            .build();
    List<Heartbeats.Connection<Integer>> connections = new ArrayList<>(keys);
    for (int key = 0; key < keys; key++) {
      connections.add(heartbeats.add(key));
    }
    connections.forEach(Heartbeats.Connection::written); // from here on, intervals are complete
    rig.liveMillis(99);
    assertEach(0);
    rig.liveMillis(1);
    assertEach(1);
    heartbeats.close();
    rig.assertNothingPending();
  }

  @Test
  void everyLeaseIsRenewedOnceInBatchesOfAThousand() {
    List<Integer> calls = new ArrayList<>();
    Leases<Integer> leases =
        Leases.<Integer>builder(
                rig.timer,
                rig,
                ofMillis(120),
                held -> {
                  calls.add(held.size());
                  held.forEach(key -> times[key]++);
                  return held;
                })
            .build();
    for (int key = 0; key < keys; key++) {
      leases.hold(key);
    }
    rig.liveMillis(30);
    assertEach(1);
    assertThat(calls).hasSize(keys / 1_000).containsOnly(1_000);
    for (int key = 0; key < keys / 2; key++) {
      leases.release(key);
    }
    rig.liveMillis(30);
    assertEach(0, keys / 2, 1);
    assertEach(keys / 2, keys, 2);
    assertThat(calls).hasSize(keys / 1_000 * 3 / 2);
    assertThat(rig.timer.pendingTimeouts()).as("one for all").isOne();
  }
}
