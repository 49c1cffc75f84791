// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.server.settings.Limits;
import java.time.Duration;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Limits the webhook requests to a host, for all nodes together. The permits of a crashed node stay
 * taken until they expire.
 */
public final class HostLimits {
  /** The expiry of a permit: longer than any request takes. */
  private static final Duration LEASE = Duration.ofSeconds(90);

  /** The least wait after a refusal: each try costs the store two commits. */
  private static final Duration LEAST_WAIT = Duration.ofMillis(100);

  private static final Duration NO_STORE = Duration.ofSeconds(1);

  /** The number of threads that release permits. A release is a commit, which blocks. */
  private static final int THREADS = 4;

  private final Limits limits;
  private final Executor releases = Executors.newFixedThreadPool(THREADS, HostLimits::thread);
  private volatile @Nullable DurableTimer timer;

  public HostLimits(Limits limits) {
    this.limits = limits;
  }

  private static Thread thread(Runnable work) {
    Thread made = new Thread(work, "timewheel-host-limits");
    made.setDaemon(true);
    return made;
  }

  /**
   * Sets the timer whose store keeps the permits. Until then, hosts with a limit receive no
   * requests.
   */
  public void serve(DurableTimer started) {
    timer = started;
  }

  /**
   * The answer to a request for a permit.
   *
   * @param delay zero if the delivery may begin, otherwise the time after which to try again
   * @param holder the name of the permit; null if none is needed, or none was given
   */
  record Permit(Duration delay, @Nullable String holder) {}

  private static final Permit UNLIMITED = new Permit(Duration.ZERO, null);

  /** Requests a permit. Asks the store only for a host with a limit. */
  Permit acquire(String host) {
    SharedLimit limit = limits.host(host);
    if (limit == null) {
      return UNLIMITED;
    }
    DurableTimer present = timer;
    if (present == null) {
      return new Permit(NO_STORE, null);
    }
    String holder = UUID.randomUUID().toString();
    try {
      Duration wait = present.acquire(name(host), limit, holder, LEASE);
      if (wait.isZero()) {
        return new Permit(wait, holder);
      }
      return new Permit(wait.compareTo(LEAST_WAIT) < 0 ? LEAST_WAIT : wait, null);
    } catch (DurableTimerException e) {
      return new Permit(NO_STORE, null);
    }
  }

  /**
   * Releases a permit. Does not wait for the store.
   *
   * @return completes when the permit is released. If the store fails, the permit expires later
   */
  CompletableFuture<Void> release(String host, Permit permit) {
    DurableTimer present = timer;
    String holder = permit.holder;
    return present == null || holder == null
        ? CompletableFuture.completedFuture(null)
        : CompletableFuture.runAsync(() -> present.release(name(host), holder), releases)
            .exceptionally(failure -> null);
  }

  private static String name(String host) {
    return "host " + host.toLowerCase(Locale.ROOT);
  }
}
