// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.testkit.ManualTimeSource;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs durable timers without threads, on a clock that a test moves. All work runs on the thread
 * that calls {@link #advanceBy} or {@link #runUntil}, always in the same order.
 *
 * <pre>{@code
 * DurableTestkit kit = DurableTestkit.create();
 * DurableTimer scheduler = kit.start(InMemoryTimerStore.create(),
 *     builder -> builder.handler("orders.cancel", firing -> cancelled.add(firing.id())));
 *
 * scheduler.schedule(TimerSpec.of("shop", "order-42").after(Duration.ofMinutes(30)).handler("orders.cancel"));
 * kit.advanceBy(Duration.ofMinutes(30));
 * assertEquals(List.of("order-42"), cancelled);
 * }</pre>
 *
 * <p>Several schedulers can be started on one kit, like the processes of a cluster. Each can be
 * {@linkplain #kill killed}, and its clock can be {@linkplain #skew skewed}. Not thread-safe.
 */
public final class DurableTestkit {
  /** The time at which the clock of every kit begins. */
  public static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private static final int MAX_STEPS = 10_000_000;

  private final ManualTimeSource time = new ManualTimeSource();
  private final long startNanos = time.nanoTime();
  private final @Nullable Random random;
  private final List<Node> nodes = new ArrayList<>();

  private DurableTestkit(@Nullable Random random) {
    this.random = random;
  }

  /** {@return a kit that runs tasks in the order of submission} */
  public static DurableTestkit create() {
    return new DurableTestkit(null);
  }

  /**
   * Creates a kit that runs waiting tasks in a random order, for simulations.
   *
   * @param random the source of the order; the same seed gives the same run
   * @return the kit
   */
  public static DurableTestkit create(Random random) {
    return new DurableTestkit(requireNonNull(random, "random"));
  }

  /** A scheduler with its own executors and clock. */
  private static final class Node {
    final ManualTimer wheel;
    final ManualExecutor steps;
    long skewMillis;
    @Nullable DurableTimer timer;

    Node(ManualTimer wheel, ManualExecutor steps) {
      this.wheel = wheel;
      this.steps = steps;
    }
  }

  /**
   * Starts a scheduler on the clock of this kit.
   *
   * @param store its store
   * @param settings adds handlers and other settings
   * @return the scheduler
   */
  public DurableTimer start(TimerStore store, Consumer<DurableTimerBuilder> settings) {
    return start(DurableTimer.builder(store), settings);
  }

  /**
   * Starts a scheduler on the clock of this kit from a builder, for example that of a {@linkplain
   * DurableTimer#client client}.
   *
   * @param builder the builder
   * @param settings adds handlers and other settings
   * @return the scheduler
   */
  public DurableTimer start(DurableTimerBuilder builder, Consumer<DurableTimerBuilder> settings) {
    Node node =
        new Node(ManualTimer.create(wheel -> wheel.timeSource(time)), new ManualExecutor(random));
    builder
        .timer(node.wheel)
        .clock(() -> now().plusMillis(node.skewMillis))
        .storeExecutor(node.steps)
        .handlerExecutor(node.steps)
        .random(() -> random == null ? 0 : random.nextDouble());
    settings.accept(builder);
    nodes.add(node);
    DurableTimer scheduler = builder.start();
    node.timer = scheduler;
    settle();
    return scheduler;
  }

  /**
   * Simulates a crash of a scheduler's process. None of its work continues, and its store session
   * is not closed.
   *
   * @param scheduler the scheduler
   */
  public void kill(DurableTimer scheduler) {
    Node node = node(scheduler);
    node.steps.die();
    nodes.remove(node);
  }

  /**
   * Closes a scheduler. Waits for running attempts for at most a second of the kit's clock.
   *
   * @param scheduler the scheduler
   */
  public void close(DurableTimer scheduler) {
    Node node = node(scheduler);
    settle();
    scheduler.close();
    node.steps.die();
    nodes.remove(node);
  }

  /**
   * Sets how far the wall clock of a scheduler is ahead of the kit's clock.
   *
   * @param scheduler the scheduler
   * @param ahead the difference; may be negative
   */
  public void skew(DurableTimer scheduler, Duration ahead) {
    node(scheduler).skewMillis = ahead.toMillis();
  }

  /** {@return the time of the kit's clock} */
  public Instant now() {
    return START.plusNanos(time.nanoTime() - startNanos);
  }

  /**
   * Advances the clock by a duration, and runs due tasks.
   *
   * @param duration the duration
   */
  public void advanceBy(Duration duration) {
    runUntil(now().plus(duration));
  }

  /**
   * Advances the clock to a time, and runs due tasks.
   *
   * @param end the time
   */
  public void runUntil(Instant end) {
    settle();
    for (Optional<Duration> next = next(); next.isPresent(); next = next()) {
      Duration wait = next.get().isNegative() ? Duration.ZERO : next.get();
      if (now().plus(wait).isAfter(end)) {
        break;
      }
      time.advanceBy(wait);
      settle();
    }
    if (now().isBefore(end)) {
      time.advanceBy(Duration.between(now(), end));
      settle();
    }
  }

  /** Returns the time until the next task is due. */
  private Optional<Duration> next() {
    return nodes.stream()
        .flatMap(
            node -> node.wheel.nextDeadline().map(at -> at.minus(node.wheel.elapsed())).stream())
        .min(Duration::compareTo);
  }

  /** Runs all tasks that are due at the present time. */
  public void settle() {
    int steps = 0;
    boolean ran = true;
    while (ran) {
      ran = false;
      for (Node node : List.copyOf(nodes)) {
        if (nodes.contains(node)) {
          ran |= node.wheel.poll() > 0;
          while (step(node)) {
            ran = true;
            if (++steps > MAX_STEPS) {
              throw new AssertionError("still busy after " + MAX_STEPS + " steps");
            }
          }
        }
      }
    }
  }

  /**
   * Runs one waiting task of a scheduler, if there is one.
   *
   * @param scheduler the scheduler
   * @return true if there was one
   */
  public boolean step(DurableTimer scheduler) {
    return step(node(scheduler));
  }

  private static boolean step(Node node) {
    return node.steps.runOne();
  }

  private Node node(DurableTimer scheduler) {
    return nodes.stream()
        .filter(node -> node.timer == scheduler)
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("not a timer of this kit, or killed"));
  }
}
