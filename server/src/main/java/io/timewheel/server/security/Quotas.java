// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import io.timewheel.server.problem.Problem;
import io.timewheel.server.settings.Quota;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Enforces the quotas of tokens and namespaces. A quota applies to the whole cluster.
 *
 * <p>Each live node has a share of a limit. A rate is divided equally. A number is divided into
 * whole parts; the first nodes by their IDs get one more each until the remainder is used. The
 * shares add up to the limit. If a limit is smaller than the number of nodes, some nodes have no
 * share. The limit on pending timers needs no shares: the store counts them in the commit ({@link
 * #maxPending}).
 */
public final class Quotas {
  private static final int MAX_BUCKETS = 10_000;

  private final Supplier<Function<String, Quota>> namespaces;
  private final LongSupplier nanoTime;
  private final Map<Holder, Bucket> buckets = new LinkedHashMap<>(16, 0.75f, true);
  private final Map<Holder, Long> streams = new HashMap<>();
  private final Map<Holder, Long> claims = new HashMap<>();
  private final Deque<Turn<?>> turns = new ArrayDeque<>();
  private volatile Share share = new Share(1, 0);

  /** A token or a namespace, identified by its name. */
  private record Holder(boolean isToken, String name) {}

  /** A limit of a holder. */
  private record Limit(Holder holder, long value) {}

  /**
   * The share of this node among the live ones.
   *
   * @param nodes the number of live nodes
   * @param rank the number of live nodes before this one
   */
  public record Share(int nodes, int rank) {
    long of(long limit) {
      return limit / nodes + (rank < limit % nodes ? 1 : 0);
    }
  }

  /** A token bucket: the remaining writes at a given time, negative after a large batch. */
  private static final class Bucket {
    private double left;
    private long atNanos;
  }

  /**
   * Creates the quotas of a server.
   *
   * @param namespaces the present quotas of namespaces, by name
   * @param nanoTime the clock of rates
   */
  public Quotas(Supplier<Function<String, Quota>> namespaces, LongSupplier nanoTime) {
    this.namespaces = namespaces;
    this.nanoTime = nanoTime;
  }

  /** {@return the share of this node among the live ones} */
  public Share share() {
    return share;
  }

  /** Sets the share of this node. */
  public void share(Share now) {
    share = now;
    refresh();
  }

  private List<Limit> limits(
      Caller caller, @Nullable String namespace, Function<Quota, @Nullable Long> which) {
    return limits(namespaces.get(), caller, namespace, which);
  }

  private static List<Limit> limits(
      Function<String, Quota> namespaces,
      Caller caller,
      @Nullable String namespace,
      Function<Quota, @Nullable Long> which) {
    List<Limit> limits = new ArrayList<>(2);
    Long ofToken = which.apply(caller.quota());
    if (ofToken != null) {
      limits.add(new Limit(new Holder(true, caller.name()), ofToken));
    }
    if (namespace != null) {
      Long ofNamespace = which.apply(namespaces.apply(namespace));
      if (ofNamespace != null) {
        limits.add(new Limit(new Holder(false, namespace), ofNamespace));
      }
    }
    return limits;
  }

  private static Problem.Failure over(Limit limit, String unit, long retrySeconds) {
    String detail =
        "over the quota of the %s (limit: %d %s in the cluster)"
            .formatted(limit.holder.isToken ? "token" : "namespace", limit.value, unit);
    return Problem.of(429, "over_limit", detail)
        .header("Retry-After", Long.toString(Math.max(1, retrySeconds)))
        .failure();
  }

  // Pending timers

  /** {@return the limit on unfinished timers of a namespace, for a new one} */
  public long maxPending(Caller caller, String namespace) {
    return limits(caller, namespace, Quota::pendingTimers).stream()
        .mapToLong(Limit::value)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  // Writes

  /**
   * Counts writes, or refuses them. A batch may exceed the rate; later writes then wait longer.
   *
   * @param count the number of timers that are written
   */
  public void write(Caller caller, @Nullable String namespace, int count) {
    List<Limit> limits = limits(caller, namespace, Quota::writesPerSecond);
    if (limits.isEmpty()) {
      return;
    }
    synchronized (buckets) {
      for (Limit limit : limits) {
        double rate = (double) limit.value / share.nodes;
        Bucket bucket = refilled(limit.holder, rate);
        if (bucket.left < 1) {
          throw over(limit, "writes per second", (long) Math.ceil((1 - bucket.left) / rate));
        }
      }
      limits.forEach(limit -> bucket(limit.holder).left -= count);
    }
  }

  /** Counts further writes of a request that was admitted. */
  public void alsoWrote(Caller caller, String namespace, int count) {
    List<Limit> limits = limits(caller, namespace, Quota::writesPerSecond);
    synchronized (buckets) {
      limits.forEach(limit -> bucket(limit.holder).left -= count);
    }
  }

  private Bucket refilled(Holder holder, double rate) {
    boolean isNew = !buckets.containsKey(holder);
    Bucket bucket = bucket(holder);
    long now = nanoTime.getAsLong();
    double most = Math.max(1, rate);
    double gained = (now - bucket.atNanos) * rate / TimeUnit.SECONDS.toNanos(1);
    bucket.left = isNew ? most : Math.min(most, bucket.left + gained);
    bucket.atNanos = now;
    return bucket;
  }

  private Bucket bucket(Holder holder) {
    Bucket bucket = buckets.computeIfAbsent(holder, absent -> new Bucket());
    if (buckets.size() > MAX_BUCKETS) { // the least recently used bucket is full again
      buckets.remove(buckets.keySet().iterator().next());
    }
    return bucket;
  }

  // Streams

  /** {@return the action that ends the stream, to be run once; refuses a stream over a quota} */
  public Runnable stream(Caller caller, @Nullable String namespace) {
    List<Limit> limits = limits(caller, namespace, Quota::streams);
    synchronized (streams) {
      for (Limit limit : limits) {
        if (streams.getOrDefault(limit.holder, 0L) >= share.of(limit.value)) {
          throw over(limit, "event streams", 5);
        }
      }
      limits.forEach(limit -> streams.merge(limit.holder, 1L, Long::sum));
    }
    return () -> {
      synchronized (streams) {
        limits.forEach(limit -> decrement(streams, limit.holder));
      }
    };
  }

  private static void decrement(Map<Holder, Long> counts, Holder holder) {
    counts.computeIfPresent(holder, (key, count) -> count > 1 ? count - 1 : null);
  }

  // Claims

  /** A claim that has started, or waits until others have ended. */
  private static final class Turn<T> {
    private final Caller caller;
    private final String namespace;
    private final long endNanos;
    private final Function<Duration, CompletionStage<T>> claim;
    private final Consumer<T> giveBack;
    private final CompletableFuture<T> answer = new CompletableFuture<>();
    private List<Limit> holds = List.of();
    private boolean begun;

    Turn(
        Caller caller,
        String namespace,
        long endNanos,
        Function<Duration, CompletionStage<T>> claim,
        Consumer<T> giveBack) {
      this.caller = caller;
      this.namespace = namespace;
      this.endNanos = endNanos;
      this.claim = claim;
      this.giveBack = giveBack;
    }

    void begin(long nowNanos) {
      CompletableFuture<T> claimed;
      try {
        claimed =
            claim.apply(Duration.ofNanos(Math.max(0, endNanos - nowNanos))).toCompletableFuture();
      } catch (RuntimeException e) { // other claims must still get their turns
        answer.completeExceptionally(e);
        return;
      }
      var unused =
          answer.whenComplete(
              (done, error) -> {
                if (answer.isCancelled()) {
                  claimed.cancel(false);
                }
              });
      unused =
          claimed
              .whenComplete(
                  (done, error) -> {
                    if (error != null) {
                      answer.completeExceptionally(error);
                    } else if (!answer.complete(done)) {
                      giveBack.accept(done);
                    }
                  })
              .thenApply(done -> done);
    }
  }

  /**
   * Runs a claim as soon as the quotas allow it. A claim whose wait ends earlier returns the empty
   * answer.
   *
   * @param wait the longest wait of the claim
   * @param empty the answer of a claim that had no turn
   * @param claim runs the claim, with the remaining wait
   * @param giveBack releases the firings of a claim that ended too late
   */
  public <T> CompletableFuture<T> claim(
      Caller caller,
      String namespace,
      Duration wait,
      T empty,
      Function<Duration, CompletionStage<T>> claim,
      Consumer<T> giveBack) {
    if (limits(caller, namespace, Quota::claims).isEmpty()) {
      return claim.apply(wait).toCompletableFuture();
    }
    long endNanos = nanoTime.getAsLong() + wait.toNanos();
    Turn<T> turn = new Turn<>(caller, namespace, endNanos, claim, giveBack);
    synchronized (turns) {
      turns.add(turn);
    }
    var unused = turn.answer.whenComplete((done, error) -> end(turn));
    refresh();
    synchronized (turns) {
      if (!turn.begun) {
        unused = turn.answer.completeOnTimeout(empty, wait.toNanos(), TimeUnit.NANOSECONDS);
      }
    }
    return turn.answer;
  }

  private void end(Turn<?> turn) {
    synchronized (turns) {
      if (turn.begun) {
        turn.holds.forEach(limit -> decrement(claims, limit.holder));
      } else {
        turns.remove(turn);
      }
    }
    refresh();
  }

  /** Starts the waiting claims that the present limits admit, in order. */
  public void refresh() {
    List<Turn<?>> next = new ArrayList<>();
    synchronized (turns) {
      Function<String, Quota> present = namespaces.get();
      for (Turn<?> turn : turns) {
        List<Limit> limits = limits(present, turn.caller, turn.namespace, Quota::claims);
        boolean fits =
            limits.stream()
                .allMatch(limit -> claims.getOrDefault(limit.holder, 0L) < share.of(limit.value));
        if (fits) {
          turn.begun = true;
          turn.holds = limits;
          limits.forEach(limit -> claims.merge(limit.holder, 1L, Long::sum));
          next.add(turn);
        }
      }
      turns.removeAll(next);
    }
    next.forEach(turn -> turn.begin(nanoTime.getAsLong()));
  }
}
