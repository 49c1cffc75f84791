// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;

class HeartbeatsPropertyTest {
  private static final int KEYS = 6;

  /** A connection that is closed if nothing was read from it. */
  private static final int CLOSES = 1;

  /** A connection whose callback throws if nothing was written to it. */
  private static final int BAD = 2;

  /** A connection to which its callback writes if nothing was written to it. */
  private static final int WRITES = 3;

  @Property(tries = 100)
  @Tag("promise-Heartbeats")
  void behavesLikeItsModel(@ForAll long seed) {
    new Beats(seed).run(300);
  }

  /** One direction of a connection of the model. */
  private static final class Direction {
    final long idleNanos;
    long messageNanos;
    long calledNanos;
    boolean busy;

    Direction(long idleMillis, long sinceNanos) {
      idleNanos = idleMillis * 1_000_000;
      messageNanos = sinceNanos;
      calledNanos = sinceNanos;
    }

    boolean isSilent(long nowNanos) {
      return nowNanos - messageNanos >= idleNanos;
    }

    boolean isDue(long nowNanos) {
      return idleNanos > 0 && nowNanos - Math.max(messageNanos, calledNanos) >= idleNanos;
    }
  }

  private static final class Watch {
    final int key;
    final Direction reading;
    final Direction writing;

    Watch(int key, Direction reading, Direction writing) {
      this.key = key;
      this.reading = reading;
      this.writing = writing;
    }
  }

  private static final class Beats extends Program {
    private final long readIdleMillis = random.nextInt(4) == 0 ? 0 : random.nextLong(5, 40);
    private final long writeIdleMillis =
        readIdleMillis > 0 && random.nextInt(4) == 0 ? 0 : random.nextLong(2, 20);
    private final Heartbeats<Integer> heartbeats = make();
    private final Map<Integer, Heartbeats.Connection<Integer>> connections = new HashMap<>();
    private final Map<Integer, Watch> model = new HashMap<>();
    private double part;

    Beats(long seed) {
      super(seed);
    }

    private Heartbeats<Integer> make() {
      Heartbeats.Builder<Integer> builder =
          Heartbeats.<Integer>builder(rig.timer, rig).random(() -> part).onError(rig::error);
      if (readIdleMillis > 0) {
        builder.onReadIdle(ofMillis(readIdleMillis), this::readIdle);
      }
      if (writeIdleMillis > 0) {
        builder.onWriteIdle(ofMillis(writeIdleMillis), this::writeIdle);
      }
      return builder.build();
    }

    private void readIdle(Heartbeats.Connection<Integer> connection) {
      int key = connection.key();
      notified.add("read " + key);
      if (key == CLOSES) {
        connections.remove(key).close();
      }
    }

    private void writeIdle(Heartbeats.Connection<Integer> connection) {
      int key = connection.key();
      notified.add("write " + key);
      if (key == BAD) {
        throw new StackOverflowError();
      }
      if (key == WRITES) {
        connections.get(key).written();
      }
    }

    @Override
    void operate() {
      int key = random.nextInt(KEYS);
      Heartbeats.Connection<Integer> connection = connections.get(key);
      int operation = random.nextInt(10);
      if (connection == null || operation == 0) {
        add(key);
      } else if (operation == 1) {
        connections.remove(key).close();
        connection.close();
        model.remove(key);
      } else if (operation < 5) {
        connection.read();
        model.get(key).reading.messageNanos = nowNanos();
      } else {
        connection.written();
        model.get(key).writing.messageNanos = nowNanos();
      }
    }

    /** Also replaces an existing one. */
    private void add(int key) {
      part = random.nextInt(5) / 4.0;
      connections.put(key, heartbeats.add(key));
      long idlePartNanos = (long) (writeIdleMillis * 1_000_000 * (1 - part));
      model.put(
          key,
          new Watch(
              key,
              new Direction(readIdleMillis, nowNanos()),
              new Direction(writeIdleMillis, nowNanos() - idlePartNanos)));
    }

    private long nowNanos() {
      return rig.nowMillis() * 1_000_000;
    }

    @Override
    void tick() {
      for (Watch watch : new ArrayList<>(model.values())) {
        tick(watch, watch.reading, "read ");
        tick(watch, watch.writing, "write ");
      }
    }

    private void tick(Watch watch, Direction direction, String what) {
      if (!direction.isDue(nowNanos())) {
        return;
      }
      direction.calledNanos = nowNanos();
      if (!direction.busy) {
        direction.busy = true;
        execute(() -> call(watch, direction, what), () -> direction.busy = false);
      }
    }

    private void call(Watch watch, Direction direction, String what) {
      direction.busy = false;
      if (model.get(watch.key) != watch || !direction.isSilent(nowNanos())) {
        return;
      }
      expected.add(what + watch.key);
      if (direction == watch.reading && watch.key == CLOSES) {
        model.remove(watch.key);
      }
      if (direction == watch.writing && watch.key == BAD) {
        throwsError();
      }
      if (direction == watch.writing && watch.key == WRITES) {
        direction.messageNanos = nowNanos();
      }
    }

    @Override
    void check() {
      assertThat(heartbeats.size()).isEqualTo(model.size());
      assertThat(rig.timer.pendingTimeouts()).as("one for each").isEqualTo(model.size());
    }

    @Override
    void end() {
      List<Heartbeats.Connection<Integer>> open = new ArrayList<>(connections.values());
      open.forEach(Heartbeats.Connection::close);
      model.clear();
    }
  }
}
