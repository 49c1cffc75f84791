// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timer;
import io.timewheel.durable.internal.attempt.HandlerQueue;
import io.timewheel.durable.internal.attempt.PrefixHandlers;
import io.timewheel.durable.internal.commit.CallerWait;
import io.timewheel.durable.internal.commit.OtherThreads;
import io.timewheel.durable.internal.engine.Closing;
import io.timewheel.durable.internal.engine.Engine;
import io.timewheel.durable.internal.engine.EngineSettings;
import io.timewheel.durable.internal.engine.EngineThreads;
import io.timewheel.durable.internal.health.Events;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.model.AsyncHandler;
import io.timewheel.durable.model.Handler;
import io.timewheel.durable.model.HandlerSlots;
import io.timewheel.durable.model.StackTraces;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TypedHandler;
import io.timewheel.durable.spi.ChangeStore;
import io.timewheel.durable.spi.FinishingHandler;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.StepExecutor;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Builds a {@link DurableTimer}. Not thread-safe. A builder can be used once. The file is long
 * because each option describes its default, its unit and its effect.
 */
public final class DurableTimerBuilder {
  private static final int DEFAULT_LIMIT = 256;

  private final TimerStore store;

  /** True if the scheduler owns no shards and runs no handlers. */
  private final boolean client;

  private final Map<String, HandlerQueue.Config> handlers = new HashMap<>();
  private final Map<String, PrefixHandlers.Config> families = new HashMap<>();
  private final Map<String, Class<?>> typed = new HashMap<>();
  private PayloadCodec codec = new NoCodec();
  private boolean built;
  private @Nullable Timer timer;
  private InstantSource clock = InstantSource.system();
  private @Nullable Executor storeExecutor;
  private @Nullable Executor handlerExecutor;
  private DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();
  private int queueCapacity = 10_000;
  private Function<TimerKey, @Nullable SharedLimit> queueLimits = queue -> null;
  private boolean refuseWhenFull;
  private int maxWindow = 200_000;
  private int overduePerSecond = 10_000;
  private long maxPending = Long.MAX_VALUE;
  private boolean strictHandlers;
  private StackTraces stackTraces = StackTraces.FIRST_AND_LAST;
  private Duration retain = Duration.ofDays(1);
  private long retainAtMost = 1_000_000;

  DurableTimerBuilder(TimerStore store, boolean client) {
    this.store = requireNonNull(store, "store");
    this.client = client;
    if (client && store.traits().sweep().isZero()) {
      throw new IllegalArgumentException(
          "store: has one owner, which fires its timers (expected: for a client, a store that nodes"
              + " share, such as a database)");
    }
  }

  /**
   * Adds a handler with a maximum concurrency of 256 attempts.
   *
   * @param name its name, to which timers refer
   * @param handler the handler
   * @return this builder
   */
  public DurableTimerBuilder handler(String name, Handler handler) {
    return handler(name, handler, DEFAULT_LIMIT, null);
  }

  /**
   * Adds a handler with a maximum concurrency and a timeout.
   *
   * @param name its name, to which timers refer
   * @param handler the handler
   * @param limit the largest number of concurrent attempts
   * @param timeLimit the timeout of an attempt, after which its thread is interrupted, or its stage
   *     cancelled, and it fails; null for none, as for a batch handler
   * @return this builder
   */
  public DurableTimerBuilder handler(
      String name, Handler handler, int limit, @Nullable Duration timeLimit) {
    HandlerQueue.Config config = config(name, handler, limit, timeLimit);
    if (handlers.putIfAbsent(name, config) != null) {
      throw new IllegalArgumentException("handler: " + name + " (expected: each name once)");
    }
    return this;
  }

  /**
   * Adds a handler for every name that begins with a prefix, for example one name per target host.
   * Each name has its own maximum concurrency, so a stalled name does not delay the others.
   *
   * @param prefix the prefix of the names. If several match, the longest one is used; a handler
   *     with exactly the name takes precedence
   * @param handler the handler
   * @param limit the largest number of concurrent attempts of each name
   * @param slots the concurrency slots that all names share; each name claims up to twice its limit
   *     ahead
   * @param timeLimit the timeout of an attempt; null for none
   * @return this builder
   */
  public DurableTimerBuilder handlers(
      String prefix, Handler handler, int limit, HandlerSlots slots, @Nullable Duration timeLimit) {
    HandlerQueue.Config each = config(prefix, handler, limit, timeLimit);
    PrefixHandlers.Config config = new PrefixHandlers.Config(each, requireNonNull(slots, "slots"));
    if (families.putIfAbsent(prefix, config) != null) {
      throw new IllegalArgumentException("handler: " + prefix + " (expected: each prefix once)");
    }
    return this;
  }

  private HandlerQueue.Config config(
      String name, Handler handler, int limit, @Nullable Duration timeLimit) {
    if (client) {
      throw new IllegalStateException(
          "handler: " + name + " for a client, which runs none (expected: DurableTimer.builder)");
    }
    Limits.name("handler", name);
    requireNonNull(handler, "handler");
    if (timeLimit != null && (timeLimit.isNegative() || timeLimit.isZero())) {
      throw new IllegalArgumentException("timeLimit: " + timeLimit + " (expected: more than zero)");
    }
    if (timeLimit != null && handler instanceof FinishingHandler batch && batch.maxBatch() > 1) {
      throw new IllegalArgumentException(
          "timeLimit: "
              + timeLimit
              + " (expected: none for a batch, whose attempts share a thread)");
    }
    return new HandlerQueue.Config(name, handler, positive("limit", limit), timeLimit);
  }

  /**
   * Adds a handler that gets the payload as an object, from a {@linkplain #codec codec}.
   *
   * @param name its name, to which timers refer
   * @param type the type of the payload
   * @param handler the handler
   * @param <T> the type of the payload
   * @return this builder
   */
  public <T> DurableTimerBuilder handler(String name, Class<T> type, TypedHandler<T> handler) {
    requireNonNull(type, "type");
    requireNonNull(handler, "handler");
    handler(name, firing -> handler.handle(firing, codec.read(firing.payload(), type)));
    typed.put(name, type);
    if (built) {
      checkCodec();
    }
    return this;
  }

  /** Throws if a typed handler has no codec, because each of its attempts would fail. */
  private void checkCodec() {
    if (codec instanceof NoCodec && !typed.isEmpty()) {
      Map.Entry<String, Class<?>> first = typed.entrySet().iterator().next();
      throw new IllegalArgumentException(
          "handler: "
              + first.getKey()
              + " for payloads of "
              + first.getValue()
              + ", but no codec (expected: DurableTimerBuilder.codec)");
    }
  }

  /**
   * Adds a handler that records its own success. Stores with transactions offer such handlers.
   *
   * @param name its name, to which timers refer
   * @param handler the handler
   * @param limit the largest number of concurrent attempts
   * @return this builder
   */
  public DurableTimerBuilder finishingHandler(String name, FinishingHandler handler, int limit) {
    return handler(name, handler, limit, null);
  }

  /**
   * Adds a handler that holds no thread while it waits.
   *
   * @param name its name, to which timers refer
   * @param handler the handler
   * @param limit the largest number of concurrent attempts, including those that wait
   * @param timeLimit the timeout of an attempt; null for none
   * @return this builder
   */
  public DurableTimerBuilder asyncHandler(
      String name, AsyncHandler handler, int limit, @Nullable Duration timeLimit) {
    return handler(name, handler, limit, timeLimit);
  }

  /**
   * Sets the codec that converts objects to payloads and back (default: none, payloads are bytes).
   *
   * @param payloadCodec the codec
   * @return this builder
   */
  public DurableTimerBuilder codec(PayloadCodec payloadCodec) {
    codec = requireNonNull(payloadCodec, "codec");
    return this;
  }

  /**
   * Sets the in-memory timer for the timers that are due soon (default: a new one). The scheduler
   * does not close it.
   *
   * @param wheel the timer
   * @return this builder
   */
  public DurableTimerBuilder timer(Timer wheel) {
    timer = requireNonNull(wheel, "timer");
    return this;
  }

  /**
   * Sets the wall clock (default: the clock of the machine).
   *
   * @param instants the clock
   * @return this builder
   */
  public DurableTimerBuilder clock(InstantSource instants) {
    clock = requireNonNull(instants, "clock");
    return this;
  }

  /**
   * Sets the executor for work on the store (default: threads of the scheduler). If the store has
   * one committer, the executor must run tasks in the order of submission. It must run each task on
   * another thread than the caller's, or throw; {@link #build} refuses an executor like {@code
   * Runnable::run}. The scheduler submits a rejected task again after a second. It waits forever
   * for a dropped task, and logs a warning every minute.
   *
   * @param executor the executor; a {@link StepExecutor} makes the scheduler single-threaded
   * @return this builder
   */
  public DurableTimerBuilder storeExecutor(Executor executor) {
    requireNonNull(executor, "executor");
    storeExecutor =
        executor instanceof StepExecutor
            ? executor // runs a task only when runOne is called
            : new OtherThreads("storeExecutor", executor);
    return this;
  }

  /**
   * Sets the executor of handlers (default: virtual threads if the JVM has them, otherwise a pool
   * of daemon threads).
   *
   * <p>The executor must run each task on another thread than the caller's, or throw. The scheduler
   * submits an empty task at its start, and refuses to start if the task runs on the calling
   * thread, as with {@code Runnable::run}. If the executor rejects an attempt, the attempt is
   * logged, stays claimed and is submitted again later. The same applies if the executor later runs
   * the attempt on the calling thread, as a full pool with {@code CallerRunsPolicy} does. A
   * silently dropped attempt occupies a concurrency slot of its handler until the scheduler is
   * closed, and is logged every minute. Its timer fires again after the next start.
   *
   * @param executor the executor
   * @return this builder
   */
  public DurableTimerBuilder handlerExecutor(Executor executor) {
    handlerExecutor = requireNonNull(executor, "executor");
    return this;
  }

  /**
   * Sets the source of the jitter of retries.
   *
   * @param numbers supplies numbers from 0 to 1
   * @return this builder
   */
  public DurableTimerBuilder random(DoubleSupplier numbers) {
    random = requireNonNull(numbers, "numbers");
    return this;
  }

  /**
   * Limits the claims of queues: how many begin per second, and how many are open. The limits apply
   * to all nodes of the store together, so all nodes should set the same ones. A claim above a
   * limit waits.
   *
   * @param limits returns the present limit of a queue, by its namespace and name, or null; called
   *     for each claim
   * @return this builder
   */
  public DurableTimerBuilder queueLimits(Function<TimerKey, @Nullable SharedLimit> limits) {
    queueLimits = requireNonNull(limits, "limits");
    return this;
  }

  /**
   * Sets the largest number of changes that wait for the store in each commit lane (default:
   * 10,000). If the queue is full, a call blocks or is refused.
   *
   * @param capacity the number of changes
   * @param refuse true to refuse calls, with {@link
   *     io.timewheel.durable.model.DurableTimerException.Reason#BUSY}
   * @return this builder
   */
  public DurableTimerBuilder queueCapacity(int capacity, boolean refuse) {
    queueCapacity = positive("capacity", capacity);
    refuseWhenFull = refuse;
    return this;
  }

  /**
   * Sets the largest number of timers in memory (default: 200,000). The others stay in the store
   * until there is room.
   *
   * @param entries the number of timers
   * @return this builder
   */
  public DurableTimerBuilder maxWindow(int entries) {
    maxWindow = positive("entries", entries);
    return this;
  }

  /**
   * Limits the rate of timers that became due while no node could fire them (default: 10,000 per
   * second). This applies when a node acquires a shard (for example at a restart), after a forward
   * jump of the clock, and after a suspension of the machine. Other timers fire at their time.
   *
   * @param perSecond the number of timers per second
   * @return this builder
   */
  public DurableTimerBuilder overdueRate(int perSecond) {
    overduePerSecond = positive("perSecond", perSecond);
    return this;
  }

  /**
   * Sets the largest number of unfinished timers in a namespace (default: no limit).
   *
   * @param timers the number of timers
   * @return this builder
   */
  public DurableTimerBuilder maxPendingPerNamespace(long timers) {
    if (timers < 1) {
      throw new IllegalArgumentException("timers: " + timers + " (expected: at least 1)");
    }
    maxPending = timers;
    return this;
  }

  /**
   * Sets whether to refuse a timer whose handler no live node has, with an {@link
   * IllegalArgumentException}. By default the timer is accepted, and a warning is logged once for
   * each handler. The check begins when this scheduler is started. Timers that are scheduled in a
   * transaction of the application are not checked.
   *
   * @param strict true to refuse such timers
   * @return this builder
   */
  public DurableTimerBuilder strictHandlers(boolean strict) {
    strictHandlers = strict;
    return this;
  }

  /**
   * Sets which failed attempts are logged with their stack traces (default: {@link
   * StackTraces#FIRST_AND_LAST}). Each failed attempt has a line, up to 30 a minute for each
   * handler.
   *
   * @param which the attempts
   * @return this builder
   */
  public DurableTimerBuilder stackTraces(StackTraces which) {
    stackTraces = requireNonNull(which, "which");
    return this;
  }

  /**
   * Sets how long and how many finished timers are retained (default: one day, at most 1,000,000).
   *
   * @param time the longest time
   * @param atMost the largest number
   * @return this builder
   */
  public DurableTimerBuilder retain(Duration time, long atMost) {
    requireNonNull(time, "time");
    if (time.isNegative() || atMost < 0) {
      throw new IllegalArgumentException(
          "retain: " + time + ", " + atMost + " (expected: zero or more)");
    }
    retain = time;
    retainAtMost = atMost;
    return this;
  }

  private static int positive(String name, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: at least 1)");
    }
    return value;
  }

  /**
   * Builds the scheduler and {@linkplain DurableTimer#start starts} it. If the start fails, the
   * scheduler and its store are closed.
   *
   * @return the scheduler
   * @throws IllegalArgumentException if the executor of handlers runs tasks on the calling thread
   */
  public DurableTimer start() {
    DurableTimer made;
    try {
      made = build();
    } catch (RuntimeException | Error e) {
      closeStore(e);
      throw e;
    }
    try {
      made.start();
    } catch (RuntimeException | Error e) {
      try {
        made.close(Duration.ZERO);
      } catch (RuntimeException | Error late) {
        e.addSuppressed(late);
      }
      throw e;
    }
    return made;
  }

  private void closeStore(Throwable failure) {
    try {
      store.close();
    } catch (RuntimeException | Error late) {
      failure.addSuppressed(late);
    }
  }

  /**
   * Builds the scheduler without starting it. It accepts all calls, but fires no timers until
   * {@link DurableTimer#start}. Until then, handlers may still be added to this builder; all other
   * settings are fixed.
   *
   * @return the scheduler
   */
  public DurableTimer build() {
    checkCodec();
    if (storeExecutor instanceof OtherThreads checked) {
      checked.check();
    }
    built = true;
    CallerWait waiting = CallerWait.on(storeExecutor);
    EngineThreads threads =
        new EngineThreads(
            store.traits().committers(), storeExecutor, handlerExecutor, waiting.hasOtherThreads());
    Timer wheel =
        timer != null ? timer : HierarchicalWheelTimer.builder().name("timewheel-durable").build();
    Events.prepare();
    Engine engine =
        new Engine(
            store,
            wheel,
            new EngineClock(clock, store::clockOffsetMillis),
            threads.engine(),
            new EngineSettings(
                handlers,
                families,
                queueCapacity,
                refuseWhenFull || !waiting.hasOtherThreads(),
                maxWindow,
                overduePerSecond,
                retain,
                retainAtMost,
                queueLimits,
                stackTraces,
                client,
                random));
    Closing closing =
        new Closing(engine, store, timer == null ? wheel : null, threads.owned(), waiting);
    HandlerCheck check = new HandlerCheck(engine.known, strictHandlers);
    Changes changes =
        new Changes(
            engine.clock,
            store.traits().lease(),
            maxPending,
            codec,
            change -> check.check(change.key(), change.definition()));
    return new DurableTimer(
        new Requests(engine, store, changes, threads.answers(), waiting), closing);
  }

  /**
   * Builds timers without an engine, with the codec, the clock and the limit on timers of this
   * builder. The other settings have no effect.
   *
   * @param changes applies the changes
   * @return the timers
   */
  public DirectTimers direct(ChangeStore changes) {
    EngineClock engineClock = new EngineClock(clock, store::clockOffsetMillis);
    return new DirectTimers(
        new Changes(engineClock, store.traits().lease(), maxPending, codec, change -> {}), changes);
  }
}
