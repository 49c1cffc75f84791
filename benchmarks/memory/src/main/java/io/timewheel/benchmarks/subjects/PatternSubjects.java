// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timer;
import io.timewheel.pattern.Backoff;
import io.timewheel.pattern.Expirations;
import io.timewheel.pattern.Heartbeats;
import io.timewheel.pattern.Leases;
import io.timewheel.pattern.Requests;
import io.timewheel.pattern.Retries;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The patterns of this library, each on a hierarchical wheel. No timeout ever fires here. */
final class PatternSubjects {
  private static final Object VALUE = new Object();

  private PatternSubjects() {}

  private static Timer timer(Settings settings) {
    return HierarchicalWheelTimer.builder().tick(Duration.ofNanos(settings.tickNanos())).build();
  }

  static Keyed expirations(Settings settings) {
    Duration timeout = Duration.ofNanos(settings.horizonNanos());
    Expirations<Long, Object> expirations =
        Expirations.builder(timer(settings), (Long key, Object value) -> {}).build();
    return new Keyed.Touched() {
      @Override
      public void add(Long key) {
        expirations.add(key, VALUE, timeout);
      }

      @Override
      public void touch(Long key) {
        expirations.touch(key);
      }

      @Override
      public void remove(Long key) {
        expirations.complete(key);
      }
    };
  }

  /** Returns requests. The memory includes the future of each request. */
  static Keyed requests(Settings settings) {
    Duration timeout = Duration.ofNanos(settings.horizonNanos());
    Requests.Channel<Object> channel = Requests.builder(timer(settings)).build().channel();
    return new Keyed() {
      @Override
      public void add(Long key) {
        CompletableFuture<Object> ignored = channel.start(key, timeout);
      }

      @Override
      public void remove(Long key) {
        channel.complete(key, VALUE);
      }
    };
  }

  /**
   * Returns retries. Each key has failed once, which is part of adding it, and waits to be tried
   * again.
   */
  static Keyed retries(Settings settings) {
    CompletableFuture<?> failed = CompletableFuture.failedFuture(new IllegalStateException());
    Retries<Long> retries =
        Retries.<Long>asyncBuilder(timer(settings), Runnable::run, (key, attempt) -> failed)
            .backoff(Backoff.fixed(Duration.ofNanos(settings.horizonNanos())))
            .build();
    return new Keyed() {
      @Override
      public void add(Long key) {
        retries.add(key);
      }

      @Override
      public void remove(Long key) {
        retries.cancel(key);
      }
    };
  }

  /** Returns heartbeats. The memory excludes the connection, which its user holds. */
  static Keyed heartbeats(Settings settings) {
    Duration idle = Duration.ofNanos(settings.horizonNanos());
    Heartbeats<Long> heartbeats =
        Heartbeats.<Long>builder(timer(settings), Runnable::run)
            .onReadIdle(idle, connection -> {})
            .onWriteIdle(idle, connection -> {})
            .build();
    AtomicReferenceArray<Heartbeats.Connection<Long>> connections =
        new AtomicReferenceArray<>(settings.pending());
    return new Keyed.Touched() {
      @Override
      public void add(Long key) {
        connections.setPlain(key.intValue(), heartbeats.add(key));
      }

      @Override
      public void touch(Long key) {
        connections.getPlain(key.intValue()).read();
      }

      @Override
      public void remove(Long key) {
        connections.getPlain(key.intValue()).close();
      }
    };
  }

  static Keyed leases(Settings settings) {
    Leases<Long> leases =
        Leases.<Long>builder(
                timer(settings),
                Runnable::run,
                Duration.ofNanos(settings.horizonNanos()),
                keys -> Set.of())
            .build();
    return new Keyed() {
      @Override
      public void add(Long key) {
        leases.hold(key);
      }

      @Override
      public void remove(Long key) {
        leases.release(key);
      }
    };
  }
}
