// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Scopes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A queue of a scheduler, for its consumers and its operators. A queue needs no creation.
 *
 * @param <F> the answer to a claim
 * @param <L> the answer to the end or the extension of a claim lease
 */
public final class QueueRef<F, L> {
  private static final int MAX_CLAIM = 1_000;

  private final Requests requests;
  private final TimerKey name;
  private final Function<CompletableFuture<List<QueueFiring>>, F> claims;
  private final Function<LeaseChange, L> leases;

  QueueRef(
      Requests requests,
      String namespace,
      String queue,
      Function<CompletableFuture<List<QueueFiring>>, F> claims,
      Function<LeaseChange, L> leases) {
    this.requests = requests;
    name = new TimerKey(Limits.name("namespace", namespace), Limits.name("queue", queue));
    this.claims = claims;
    this.leases = leases;
  }

  /**
   * Claims ready timers, or waits if there are none. If the consumer cancels a returned stage, or
   * is interrupted while it waits, its claimed timers are given back, and their attempts do not
   * count.
   *
   * @param max the largest number of firings, 1 to 1,000
   * @param lease the duration of the claim lease, from a second to twelve hours
   * @param wait the longest wait for the first timer, from zero to a minute
   * @return the claimed timers; an empty list if none became ready
   */
  public F claim(int max, Duration lease, Duration wait) {
    Limits.count("max", max, MAX_CLAIM);
    Limits.between("lease", lease, LeaseChange.MIN_LEASE, LeaseChange.MAX_LEASE);
    Limits.between("wait", wait, Duration.ZERO, Duration.ofMinutes(1));
    requests.engine.committer.checkOpen();
    return claims.apply(requests.claim(name.namespace(), name.id(), max, lease, wait));
  }

  /**
   * Ends a claim lease: the attempt succeeded.
   *
   * @param firing the claimed timer
   * @return the result
   */
  public L ack(QueueFiring firing) {
    return leases.apply(LeaseChange.ack(firing.firing().fireId(), firing.leaseToken()));
  }

  /**
   * Ends a claim lease: the attempt failed.
   *
   * @param firing the claimed timer
   * @param error the reason
   * @param after the wait until the next attempt; null for the wait of the retry policy
   * @return the result
   */
  public L nack(QueueFiring firing, String error, @Nullable Duration after) {
    return leases.apply(
        LeaseChange.nack(firing.firing().fireId(), firing.leaseToken(), error, after));
  }

  /**
   * Extends a claim lease.
   *
   * @param firing the claimed timer
   * @param by the new duration from now on, from a second to twelve hours; the lease is never
   *     shortened
   * @return the result
   */
  public L extend(QueueFiring firing, Duration by) {
    return leases.apply(LeaseChange.extend(firing.firing().fireId(), firing.leaseToken(), by));
  }

  /**
   * Gives back claimed timers that were not processed, for example because the response to the
   * consumer could not be sent. They are ready again, and their attempts do not count. A timer
   * whose claim lease has ended is not changed. Does not wait for the commit.
   *
   * @param firings the claimed timers
   */
  public void giveBack(List<QueueFiring> firings) {
    requests.engine.committer.checkOpen();
    requests.engine.claims.giveBack(firings.stream().map(QueueFiring::claimed).toList());
  }

  /**
   * Pauses the queue. Once this method returns, no node claims a timer of the queue until it is
   * resumed. Timers still become ready, and consumers may ack claimed ones. The pause is stored.
   *
   * @return the number of timers of the queue that consumers have claimed
   */
  public long pause() {
    requests.pause(Scopes.queue(name.namespace(), name.id()));
    return info().running();
  }

  /** Ends the pause of the queue. Waiting claims get its ready timers at once. */
  public void resume() {
    requests.resume(Scopes.queue(name.namespace(), name.id()));
  }

  /** {@return the state of the queue} */
  public QueueInfo info() {
    return requests.queue(name);
  }
}
