// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;

/**
 * The model does not contain sweeps, only their guarantees: which leases may be renewed, which must
 * have been by now, and which are lost.
 */
class LeasesPropertyTest {
  private static final int KEYS = 6;
  private static final int MAX_BATCH = 3;
  private static final long LEASE_MILLIS = 120;
  private static final long SWEEP_MILLIS = LEASE_MILLIS / 12;

  /** {@code onLost} and the unlock throw for this one. */
  private static final int BAD = 3;

  private enum Server {
    RENEWS,
    FAILS,
    THROWS,
    FORGETS,
    ENDS_LATER
  }

  @Property(tries = 100)
  @Tag("promise-Leases")
  void behavesLikeItsModel(@ForAll long seed) {
    new Locks(seed).run(400);
  }

  private static final class Held {
    final int key;
    int holds;
    long renewedMillis;
    long calledMillis;
    boolean inCall;
    boolean unlocksLater;

    Held(int key, long nowMillis) {
      this.key = key;
      renewedMillis = nowMillis;
      calledMillis = nowMillis;
    }
  }

  /** A call that has not ended. */
  private record Call(
      List<Held> leases, long begunMillis, CompletableFuture<List<Integer>> stage) {}

  private static final class Locks extends Program {
    private final Leases<Integer> leases =
        Leases.<Integer>asyncBuilder(rig.timer, rig, ofMillis(LEASE_MILLIS), this::renew)
            .maxBatch(MAX_BATCH)
            .onLost(this::lost)
            .onError(rig::error)
            .build();
    private final Map<Integer, Held> model = new TreeMap<>();
    private final List<Call> calls = new ArrayList<>();

    /** Lost leases whose callback waits for the executor. */
    private final List<Integer> refused = new ArrayList<>();

    private Server server = Server.RENEWS;
    private boolean closed;

    Locks(long seed) {
      super(seed);
    }

    private CompletionStage<List<Integer>> renew(List<Integer> keys) {
      assertThat(keys).hasSizeBetween(1, MAX_BATCH).doesNotHaveDuplicates();
      List<Held> begun = new ArrayList<>();
      for (int key : keys) {
        Held held = model.get(key);
        assertThat(held).as("held, so that it may be renewed").isNotNull();
        assertThat(held.inCall).as("in another call").isFalse();
        held.calledMillis = rig.nowMillis();
        begun.add(held);
      }
      CompletableFuture<List<Integer>> stage = new CompletableFuture<>();
      Call call = new Call(begun, rig.nowMillis(), stage);
      if (server == Server.ENDS_LATER) {
        begun.forEach(held -> held.inCall = true);
        calls.add(call);
      } else {
        answer(call, server);
      }
      return stage;
    }

    private void answer(Call call, Server how) {
      if (how == Server.THROWS || how == Server.FAILS) {
        throwsError();
        if (how == Server.THROWS && !call.leases.get(0).inCall) {
          throw new IllegalStateException();
        }
        call.stage.completeExceptionally(new IllegalStateException());
        return;
      }
      List<Integer> renewed = new ArrayList<>();
      for (Held held : call.leases) {
        if (how == Server.FORGETS && random.nextBoolean()) {
          if (model.remove(held.key, held)) {
            refused.add(held.key);
          }
        } else {
          held.renewedMillis = call.begunMillis;
          renewed.add(held.key);
        }
      }
      call.stage.complete(renewed);
    }

    private void lost(Integer key, Leases.Loss loss) {
      if (loss == Leases.Loss.REFUSED) {
        assertThat(refused.remove(key)).as("not held, and not notified before").isTrue();
      } else {
        Held held = model.remove(key);
        assertThat(held).as("held, and not lost before").isNotNull();
        assertThat(rig.nowMillis() - held.renewedMillis).isGreaterThanOrEqualTo(LEASE_MILLIS);
      }
      if (key == BAD) {
        throwsError();
        throw new IllegalStateException();
      }
    }

    @Override
    void operate() {
      int key = random.nextInt(KEYS);
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> {
          Held held = model.computeIfAbsent(key, k -> new Held(k, rig.nowMillis()));
          assertThat(leases.hold(key)).isEqualTo(++held.holds);
        }
        case 3, 4 -> release(key);
        case 5, 6 -> server = pick(List.of(Server.values()));
        default -> {
          if (!calls.isEmpty()) {
            endACall(calls.remove(random.nextInt(calls.size())));
          }
        }
      }
    }

    private void release(int key) {
      Held held = model.get(key);
      boolean last = held != null && --held.holds == 0;
      if (last) {
        model.remove(key);
        held.unlocksLater = held.inCall;
        if (!held.inCall) {
          expected.add("unlock " + key);
        }
      }
      CompletableFuture<Boolean> released = leases.release(key, () -> unlock(key, held));
      if (!last || !held.unlocksLater) {
        assertThat(released).isCompletedWithValue(last);
      }
    }

    private void unlock(int key, Held held) {
      notified.add("unlock " + key);
      if (key == BAD && held.unlocksLater) {
        throwsError();
        throw new IllegalStateException();
      }
    }

    private void endACall(Call call) {
      for (Held held : call.leases) {
        held.calledMillis = rig.nowMillis();
        if (held.unlocksLater) {
          Runnable unlock = () -> expected.add("unlock " + held.key);
          execute(unlock, unlock);
        }
      }
      Server how = pick(List.of(Server.RENEWS, Server.FAILS, Server.FORGETS));
      answer(call, how);
      call.leases.forEach(held -> held.inCall = false);
    }

    @Override
    void tick() {}

    @Override
    void check() {
      assertThat(leases.size()).isEqualTo(model.size());
      for (int key = 0; key < KEYS; key++) {
        Held held = model.get(key);
        assertThat(leases.holds(key)).isEqualTo(held == null ? 0 : held.holds);
      }
      assertThat(rig.timer.pendingTimeouts()).as("one for all").isEqualTo(closed ? 0 : 1);
      if (livesSince(0)) {
        assertThat(refused).as("notified").isEmpty();
      }
      if (livesSince(SWEEP_MILLIS)) {
        assertThat(model.values()).allMatch(this::isInTime);
      }
    }

    /** Returns whether a lease has not expired, and was renewed or at least tried in time. */
    private boolean isInTime(Held held) {
      long ageMillis = rig.nowMillis() - held.renewedMillis;
      boolean tried =
          held.inCall
              || ageMillis <= LEASE_MILLIS / 3
              || rig.nowMillis() - held.calledMillis <= SWEEP_MILLIS;
      return tried && ageMillis < LEASE_MILLIS;
    }

    @Override
    void end() {
      server = Server.RENEWS;
      while (!calls.isEmpty()) {
        endACall(calls.remove(0));
      }
      for (int key = 0; key < KEYS; key++) {
        while (model.containsKey(key)) {
          release(key);
        }
      }
      rig.runTasks(); // no loss is notified after the close
      leases.close();
      closed = true;
    }
  }
}
