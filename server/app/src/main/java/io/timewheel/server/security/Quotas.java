// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import io.timewheel.server.problem.Problem;
import io.timewheel.server.settings.Quota;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Enforces the quotas of tokens and namespaces. A quota applies to the whole cluster.
 *
 * <p>Each live node has a share of a limit. A rate is divided equally. A number is divided into
 * whole parts; the first nodes by their IDs get one more each until the remainder is used. The
 * shares add up to the limit. If a limit is smaller than the number of nodes, some nodes have no
 * share. The limit on pending timers needs no shares: the store counts them in the commit ({@link
 * #maxPending}).
 *
 * <p>{@link #full} decides for writes, streams and claims alike. A claim that it refuses waits in
 * the queue of the full holder, a token or a namespace. Only the end of a claim of that holder, and
 * a change of its limit, can admit it. So these look at the head of that queue alone.
 */
public final class Quotas {
  private static final int MAX_BUCKETS = 10_000;

  /**
   * The largest number of claims that the end of one claim moves to the queues of other holders.
   */
  private static final int MAX_MOVES = 16;

  private static final Use NONE = new Use();

  private final Supplier<Function<String, Quota>> namespaces;
  private final LongSupplier nanoTime;
  private final Map<Holder, Bucket> buckets = new LinkedHashMap<>(16, 0.75f, true);
  private final Map<Holder, Use> uses = new HashMap<>();

  /** The claims that were admitted and have not begun. */
  private final Queue<Turn> admitted = new ConcurrentLinkedQueue<>();

  /** The requests to begin admitted claims. One thread at a time serves them. */
  private final AtomicInteger begins = new AtomicInteger();

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

  /** The streams and claims of a holder, and the claims that wait for it, in order. */
  private static final class Use {
    private long streams;
    private long claims;
    private final Set<Turn> waiting = new LinkedHashSet<>();

    boolean isNone() {
      return streams == 0 && claims == 0 && waiting.isEmpty();
    }
  }

  /** Creates quotas; those of namespaces are by name. */
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

  /**
   * Decides whether limits admit one more.
   *
   * @param room the number that a limit still admits
   * @return the first limit that does not; null if all do
   */
  private static @Nullable Limit full(List<Limit> limits, ToDoubleFunction<Limit> room) {
    for (Limit limit : limits) {
      if (room.applyAsDouble(limit) < 1) {
        return limit;
      }
    }
    return null;
  }

  private static Problem over(Limit limit, String unit, double retrySeconds) {
    String detail =
        "over the quota of the %s (limit: %d %s in the cluster)"
            .formatted(limit.holder.isToken ? "token" : "namespace", limit.value, unit);
    return Problem.of(429, "over_limit", detail)
        .header("Retry-After", Long.toString(Math.max(1, (long) Math.ceil(retrySeconds))));
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

  /** Charges the write of one timer before it is made, or refuses it. */
  public void write(Caller caller, String namespace) {
    Problem over = charge(caller, namespace, 1, 0).over;
    if (over != null) {
      throw over.failure();
    }
  }

  /**
   * The further writes of a batch that are admitted.
   *
   * @param count their number
   * @param over the answer to the others; null if there are none
   */
  public record Admitted(int count, @Nullable Problem over) {}

  /**
   * Charges the further writes of an admitted batch before they are made. A batch may use up the
   * writes of one more second in advance, so that later writes wait for about a second at most.
   */
  public Admitted writeMore(Caller caller, String namespace, int count) {
    return charge(caller, namespace, count, 1);
  }

  private Admitted charge(Caller caller, String namespace, int count, int burstsInAdvance) {
    List<Limit> limits = limits(caller, namespace, Quota::writesPerSecond);
    int charged = 0;
    Problem over = null;
    synchronized (buckets) {
      ToDoubleFunction<Limit> room = limit -> refilled(limit).left + burstsInAdvance * burst(limit);
      double least = limits.stream().mapToDouble(room).min().orElse(count);
      charged = Math.max(0, (int) Math.min(count, least));
      int taken = charged;
      limits.forEach(limit -> refilled(limit).left -= taken);
      Limit full = charged < count ? full(limits, room) : null;
      if (full != null) {
        over = over(full, "writes per second", (1 - refilled(full).left) / rate(full));
      }
    }
    return new Admitted(charged, over);
  }

  private double rate(Limit limit) {
    return (double) limit.value / share.nodes;
  }

  private double burst(Limit limit) {
    return Math.max(1, rate(limit));
  }

  private Bucket refilled(Limit limit) {
    boolean isNew = !buckets.containsKey(limit.holder);
    Bucket bucket = buckets.computeIfAbsent(limit.holder, absent -> new Bucket());
    if (buckets.size() > MAX_BUCKETS) { // the least recently used bucket is full again
      buckets.remove(buckets.keySet().iterator().next());
    }
    long now = nanoTime.getAsLong();
    double gained = (now - bucket.atNanos) * rate(limit) / TimeUnit.SECONDS.toNanos(1);
    bucket.left = isNew ? burst(limit) : Math.min(burst(limit), bucket.left + gained);
    bucket.atNanos = now;
    return bucket;
  }

  // Streams and claims

  private Use use(Holder holder) {
    return uses.getOrDefault(holder, NONE);
  }

  private void change(Holder holder, Consumer<Use> change) {
    Use use = uses.computeIfAbsent(holder, absent -> new Use());
    change.accept(use);
    if (use.isNone()) {
      uses.remove(holder);
    }
  }

  /** {@return the action that ends the stream, to be run once; refuses a stream over a quota} */
  public Runnable stream(Caller caller, @Nullable String namespace) {
    List<Limit> limits = limits(caller, namespace, Quota::streams);
    synchronized (uses) {
      Limit full = full(limits, limit -> share.of(limit.value) - use(limit.holder).streams);
      if (full != null) {
        throw over(full, "event streams", 5).failure();
      }
      limits.forEach(limit -> change(limit.holder, use -> use.streams++));
    }
    return () -> {
      synchronized (uses) {
        limits.forEach(limit -> change(limit.holder, use -> use.streams--));
      }
    };
  }

  /** A claim that waits in the queue of a holder, or holds a place of each of its limits. */
  private static final class Turn {
    private final Caller caller;
    private final String namespace;
    private final Runnable begin;
    private @Nullable Holder waitsFor;
    private List<Limit> holds = List.of();

    Turn(Caller caller, String namespace, Runnable begin) {
      this.caller = caller;
      this.namespace = namespace;
      this.begin = begin;
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
    Function<String, Quota> present = namespaces.get();
    List<Limit> limits = limits(present, caller, namespace, Quota::claims);
    if (limits.isEmpty()) {
      return claim.apply(wait).toCompletableFuture();
    }
    long endNanos = nanoTime.getAsLong() + wait.toNanos();
    CompletableFuture<T> answer = new CompletableFuture<>();
    Turn turn =
        new Turn(
            caller,
            namespace,
            () -> {
              long left = Math.max(0, endNanos - nanoTime.getAsLong());
              begin(answer, () -> claim.apply(Duration.ofNanos(left)), giveBack);
            });
    var unused = answer.whenComplete((done, error) -> end(turn));
    boolean waits;
    synchronized (uses) {
      waitFor(turn, limits.get(0).holder);
      admit(present, limits.get(0).holder);
      waits = turn.waitsFor != null;
    }
    beginAdmitted();
    if (waits) {
      unused = answer.completeOnTimeout(empty, wait.toNanos(), TimeUnit.NANOSECONDS);
    }
    return answer;
  }

  private static <T> void begin(
      CompletableFuture<T> answer, Supplier<CompletionStage<T>> claim, Consumer<T> giveBack) {
    if (answer.isDone()) {
      return;
    }
    CompletableFuture<T> claimed;
    try {
      claimed = claim.get().toCompletableFuture();
    } catch (RuntimeException | Error e) { // other claims must still get their turns
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
    var unusedEnd =
        claimed.whenComplete(
            (done, error) -> {
              if (error != null) {
                answer.completeExceptionally(error);
              } else if (!answer.complete(done)) {
                giveBack.accept(done);
              }
            });
  }

  private void waitFor(Turn turn, @Nullable Holder holder) {
    Holder before = turn.waitsFor;
    if (before != null) {
      change(before, use -> use.waiting.remove(turn));
    }
    turn.waitsFor = holder;
    if (holder != null) {
      change(holder, use -> use.waiting.add(turn));
    }
  }

  /**
   * Admits the claims that wait for a holder, in order, until the first one that still must.
   *
   * @return whether it ended early, after the largest number of moves
   */
  private boolean admit(Function<String, Quota> present, Holder holder) {
    int moves = 0;
    for (Use use = use(holder); !use.waiting.isEmpty() && moves < MAX_MOVES; use = use(holder)) {
      Turn turn = use.waiting.iterator().next();
      List<Limit> limits = limits(present, turn.caller, turn.namespace, Quota::claims);
      Limit full = full(limits, limit -> share.of(limit.value) - use(limit.holder).claims);
      if (full != null && full.holder.equals(holder)) {
        return false;
      }
      waitFor(turn, full == null ? null : full.holder);
      if (full == null) {
        turn.holds = limits;
        limits.forEach(limit -> change(limit.holder, each -> each.claims++));
        admitted.add(turn);
      } else {
        moves++;
      }
    }
    return moves == MAX_MOVES;
  }

  private void end(Turn turn) {
    Function<String, Quota> present = namespaces.get();
    synchronized (uses) {
      waitFor(turn, null);
      turn.holds.forEach(limit -> change(limit.holder, use -> use.claims--));
      turn.holds.forEach(limit -> admit(present, limit.holder));
    }
    beginAdmitted();
  }

  /** Admits the waiting claims that the present limits admit. */
  public void refresh() {
    List<Holder> holders;
    synchronized (uses) {
      holders = List.copyOf(uses.keySet());
    }
    Function<String, Quota> present = namespaces.get();
    for (Holder holder : holders) {
      boolean endedEarly;
      do {
        synchronized (uses) {
          endedEarly = admit(present, holder);
        }
      } while (endedEarly);
    }
    beginAdmitted();
  }

  /**
   * Begins the admitted claims. If one ends at once, this loop also begins those that it admits.
   */
  private void beginAdmitted() {
    if (begins.getAndIncrement() == 0) {
      int served;
      do {
        served = begins.get();
        for (Turn turn = admitted.poll(); turn != null; turn = admitted.poll()) {
          turn.begin.run();
        }
      } while (!begins.compareAndSet(served, 0));
    }
  }
}
