// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timer;
import io.timewheel.durable.internal.attempt.HandlerQueue;
import io.timewheel.durable.internal.attempt.HandlerThreads;
import io.timewheel.durable.internal.attempt.PrefixHandlers;
import io.timewheel.durable.internal.commit.OtherThreads;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.commit.Waiting;
import io.timewheel.durable.internal.engine.Closing;
import io.timewheel.durable.internal.engine.Engine;
import io.timewheel.durable.internal.engine.EngineExecutors;
import io.timewheel.durable.internal.engine.EngineSettings;
import io.timewheel.durable.internal.health.Events;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.model.AsyncHandler;
import io.timewheel.durable.model.Handler;
import io.timewheel.durable.model.HandlerSlots;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TypedHandler;
import io.timewheel.durable.spi.FinishingHandler;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.StepExecutor;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The settings of a {@link DurableTimer}. Not thread-safe; used once. */
public final class DurableTimerBuilder {
  private static final int DEFAULT_LIMIT = 256;

  private final TimerStore store;

  /** Whether the timer takes no shards and runs no handlers. */
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
  private Duration remember = Duration.ofDays(1);
  private long rememberAtMost = 1_000_000;

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
   * Adds a handler, of which up to 256 attempts run at a time.
   *
   * @param name its name, which timers refer to
   * @param handler the handler
   * @return this builder
   */
  public DurableTimerBuilder handler(String name, Handler handler) {
    return handler(name, handler, DEFAULT_LIMIT, null);
  }

  /**
   * Adds a handler with a limit.
   *
   * @param name its name, which timers refer to
   * @param handler the handler
   * @param limit how many attempts run at a time, at most
   * @param timeLimit how long an attempt may take before its thread is interrupted, or its stage
   *     cancelled, and it has failed; null for no limit
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
   * Adds a handler for every name that begins with a prefix. Each name has a limit of its own, so
   * that a name that stands still holds up no other: for instance one for each host that is called.
   *
   * @param prefix what the names begin with; of several that fit, the longest counts, and a handler
   *     of just that name before all of them
   * @param handler the handler
   * @param limit how many attempts run at a time for each name, at most
   * @param slots the slots that all names share; each name claims up to twice its limit ahead
   * @param timeLimit how long an attempt may take; null for no limit
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
    return new HandlerQueue.Config(name, handler, positive("limit", limit), timeLimit);
  }

  /**
   * Adds a handler that gets the payload as an object, from a {@linkplain #codec codec}.
   *
   * @param name its name, which timers refer to
   * @param type the type of the payload
   * @param handler the handler
   * @param <T> the type of the payload
   * @return this builder
   */
  public <T> DurableTimerBuilder handler(String name, Class<T> type, TypedHandler<T> handler) {
    requireNonNull(type, "type");
    requireNonNull(handler, "handler");
    handler(name, firing -> handler.handle(firing, codec.decode(firing.payload(), type)));
    typed.put(name, type);
    if (built) {
      checkCodec();
    }
    return this;
  }

  /** Without a codec each attempt of a typed handler would fail. */
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
   * Adds a handler that records its own success, as stores with transactions offer them.
   *
   * @param name its name, which timers refer to
   * @param handler the handler
   * @param limit how many attempts run at a time, at most
   * @return this builder
   */
  public DurableTimerBuilder finishingHandler(String name, FinishingHandler handler, int limit) {
    return handler(name, handler, limit, null);
  }

  /**
   * Adds a handler that holds no thread while it waits.
   *
   * @param name its name, which timers refer to
   * @param handler the handler
   * @param limit how many attempts run at a time, at most, those included that wait
   * @param timeLimit how long an attempt may take; null for no limit
   * @return this builder
   */
  public DurableTimerBuilder asyncHandler(
      String name, AsyncHandler handler, int limit, @Nullable Duration timeLimit) {
    return handler(name, handler, limit, timeLimit);
  }

  /**
   * Sets what turns payloads into objects and back: bytes only, unless set.
   *
   * @param payloadCodec the codec
   * @return this builder
   */
  public DurableTimerBuilder codec(PayloadCodec payloadCodec) {
    codec = requireNonNull(payloadCodec, "codec");
    return this;
  }

  /**
   * Sets the timer whose wheel holds what is due soon; a new one unless set. It is not closed with
   * the durable timer.
   *
   * @param wheel the timer
   * @return this builder
   */
  public DurableTimerBuilder timer(Timer wheel) {
    timer = requireNonNull(wheel, "timer");
    return this;
  }

  /**
   * Sets the wall clock: the machine's, unless set.
   *
   * @param instants the clock
   * @return this builder
   */
  public DurableTimerBuilder clock(InstantSource instants) {
    clock = requireNonNull(instants, "clock");
    return this;
  }

  /**
   * Sets the executor of store work, instead of threads of the timer's own. It must run tasks in
   * the order in which they come if the store is used by one committer. It runs each task on
   * another thread than the caller's, or throws; {@link #build} refuses one that does not, as with
   * {@code Runnable::run}. The timer hands a rejected task over again in a second. It waits for
   * ever for one that is dropped, and reports that each minute.
   *
   * @param executor the executor; a {@link StepExecutor} makes the timer single-threaded
   * @return this builder
   */
  public DurableTimerBuilder storeExecutor(Executor executor) {
    requireNonNull(executor, "executor");
    storeExecutor =
        executor instanceof StepExecutor
            ? executor // which runs a task when somebody calls runOne
            : new OtherThreads("storeExecutor", executor);
    return this;
  }

  /**
   * Sets what runs handlers: virtual threads where there are some, otherwise a pool of daemons.
   *
   * <p>It runs each task on another thread than the caller's, or throws. The timer hands it an
   * empty task at its start, and refuses to start if that runs on the calling thread, as with
   * {@code Runnable::run}. An attempt that it rejects, or runs on the calling thread later, as a
   * full pool with {@code CallerRunsPolicy} does, is logged, stays claimed, and is handed over
   * again in a while. One that it drops without a word takes a place of its handler until the timer
   * is closed, and is logged every minute; its timer fires again after the next start.
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
   * @param numbers gives numbers from 0 to 1
   * @return this builder
   */
  public DurableTimerBuilder random(DoubleSupplier numbers) {
    random = requireNonNull(numbers, "numbers");
    return this;
  }

  /**
   * Limits the claims of queues: how many begin each second, and how many are open. All nodes that
   * share the store should have the same limits, which hold for them together. A claim over a limit
   * waits.
   *
   * @param limits returns the present limit of a queue, by its namespace and its name, or null; it
   *     is called for each claim
   * @return this builder
   */
  public DurableTimerBuilder queueLimits(Function<TimerKey, @Nullable SharedLimit> limits) {
    queueLimits = requireNonNull(limits, "limits");
    return this;
  }

  /**
   * Sets how many changes may wait for the store, in each lane: 10,000 unless set. A call that
   * finds as many waits, or is refused.
   *
   * @param capacity how many
   * @param refuse whether to refuse, with {@link
   *     io.timewheel.durable.model.DurableTimerException.Reason#BUSY}
   * @return this builder
   */
  public DurableTimerBuilder queueCapacity(int capacity, boolean refuse) {
    queueCapacity = positive("capacity", capacity);
    refuseWhenFull = refuse;
    return this;
  }

  /**
   * Sets how many timers the wheel holds at most: 200,000 unless set. The others stay in the store
   * until there is room.
   *
   * @param entries how many
   * @return this builder
   */
  public DurableTimerBuilder maxWindow(int entries) {
    maxWindow = positive("entries", entries);
    return this;
  }

  /**
   * Sets at what rate timers fire that became due while nothing ran: before a shard was acquired,
   * as at a restart, or before the clock jumped ahead or the machine was resumed. 10,000 a second
   * unless set. What becomes due in the meantime fires at its time.
   *
   * @param perSecond how many a second
   * @return this builder
   */
  public DurableTimerBuilder overdueRate(int perSecond) {
    overduePerSecond = positive("perSecond", perSecond);
    return this;
  }

  /**
   * Sets how many unfinished timers a namespace may have: any number, unless set.
   *
   * @param timers how many
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
   * IllegalArgumentException}; unless set, the timer is taken, and a warning is logged once for
   * each handler. The check begins when this timer is started. Timers that are scheduled in a
   * transaction of the user are not checked.
   *
   * @param strict whether to refuse
   * @return this builder
   */
  public DurableTimerBuilder strictHandlers(boolean strict) {
    strictHandlers = strict;
    return this;
  }

  /**
   * Sets how long finished timers are remembered: a day and a million at most, unless set.
   *
   * @param time how long
   * @param atMost how many
   * @return this builder
   */
  public DurableTimerBuilder remember(Duration time, long atMost) {
    requireNonNull(time, "time");
    if (time.isNegative() || atMost < 0) {
      throw new IllegalArgumentException(
          "remember: " + time + ", " + atMost + " (expected: zero or more)");
    }
    remember = time;
    rememberAtMost = atMost;
    return this;
  }

  private static int positive(String name, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: at least 1)");
    }
    return value;
  }

  /**
   * Makes the timer and {@linkplain DurableTimer#start starts} it. If that fails it is closed, and
   * its store with it.
   *
   * @return the timer
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
   * Makes the timer without starting it: it does all that it is asked for, but fires nothing until
   * {@link DurableTimer#start}. Handlers may be added here until then, and nothing else.
   *
   * @return the timer
   */
  public DurableTimer build() {
    checkCodec();
    if (storeExecutor instanceof OtherThreads checked) {
      checked.check();
    }
    built = true;
    Waiting waiting = Waiting.on(storeExecutor);
    List<ExecutorService> owned = new ArrayList<>();
    Timer wheel =
        timer != null ? timer : HierarchicalWheelTimer.builder().name("timewheel-durable").build();
    Executor reader = storeExecutor;
    List<Executor> committers = new ArrayList<>();
    for (int i = 0; i < store.traits().committers(); i++) {
      committers.add(
          storeExecutor != null ? storeExecutor : owned(owned, "timewheel-durable-committer-" + i));
    }
    Executor teller = storeExecutor;
    Executor upkeeper = storeExecutor;
    Executor claimer = storeExecutor;
    if (reader == null || teller == null || upkeeper == null || claimer == null) {
      teller = owned(owned, "timewheel-durable-outcomes");
      reader = owned(owned, "timewheel-durable-store");
      upkeeper = owned(owned, "timewheel-durable-upkeep");
      claimer = owned(owned, "timewheel-durable-consumers");
    }
    Executor runner = handlerExecutor;
    if (runner == null) {
      ExecutorService workers = HandlerThreads.create();
      owned.add(workers);
      runner = workers;
    }
    Executor answers = runner;
    if (handlerExecutor != null && waiting.hasOtherThreads()) {
      // It may be bounded, and full of handlers that wait for an answer.
      ExecutorService threads = HandlerThreads.create();
      owned.add(threads);
      answers = threads;
    }
    Events.prepare();
    Engine engine =
        new Engine(
            store,
            wheel,
            new EngineClock(clock, store::clockOffsetMillis),
            new EngineExecutors(
                new StoreTasks.Executors(reader, upkeeper, claimer), committers, teller, runner),
            new EngineSettings(
                handlers,
                families,
                queueCapacity,
                refuseWhenFull || !waiting.hasOtherThreads(),
                maxWindow,
                overduePerSecond,
                remember,
                rememberAtMost,
                queueLimits,
                client,
                random));
    Closing closing = new Closing(engine, store, timer == null ? wheel : null, owned, waiting);
    HandlerCheck check = new HandlerCheck(engine.known, strictHandlers);
    Requests requests = new Requests(engine, store, answers, codec, maxPending, check, waiting);
    return new DurableTimer(engine, store, requests, closing);
  }

  private static ExecutorService owned(List<ExecutorService> all, String name) {
    ExecutorService service =
        Executors.newSingleThreadExecutor(
            work -> {
              Thread thread = new Thread(work, name);
              thread.setDaemon(true);
              return thread;
            });
    all.add(service);
    return service;
  }

  /** Stands in where no codec was given. */
  private static final class NoCodec implements PayloadCodec {
    @Override
    public byte[] encode(Object payload) {
      throw missing();
    }

    @Override
    public <T> T decode(byte[] payload, Class<T> type) {
      throw missing();
    }

    private static IllegalArgumentException missing() {
      return new IllegalArgumentException(
          "no codec (expected: DurableTimerBuilder.codec, for payloads that are objects)");
    }
  }
}
