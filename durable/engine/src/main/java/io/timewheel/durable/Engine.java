// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StepExecutor;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.TimerDefinition;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What goes on behind a {@link DurableTimer}: the windows of the shards that this session owns, the
 * lanes of handlers, and the beat that keeps them going.
 *
 * <p>It has no thread of its own. The timer's thread only moves entries; everything that touches
 * the store runs on the store's executors, and handlers run on theirs.
 */
final class Engine implements StoreListener {
  private static final System.Logger LOG = System.getLogger(DurableTimer.class.getName());
  private static final Duration BEAT = Duration.ofSeconds(1);
  private static final int BEATS_PER_UPKEEP = 60;
  private static final Duration MIN_GRACE = Duration.ofSeconds(1);
  private static final long DRIFT_MILLIS = 20;
  private static final long JUMP_MILLIS = 1_000;
  private static final int PAGE = 1_000;

  /** The wait of store work that the store's executor refuses. */
  private static final Duration REFUSED_WAIT = Duration.ofSeconds(1);

  private final TimerStore store;
  private final Timer timer;
  private final Waits waits;
  private final EngineClock clock;
  private final Executor storeExecutor;
  private final Executor upkeepExecutor;
  private final Turns turns = new Turns();
  private final Committer committer;
  private final Settings settings;
  private final Map<String, HandlerLane.Config> handlers;
  private final Executor handlerExecutor;
  private volatile Map<String, HandlerLane> lanes = Map.of();
  private final Map<Integer, Shard> shards = new ConcurrentHashMap<>();
  private final long minGraceMillis;
  private final Pace pace;
  private final Gate parking = new Gate(this::park);
  private final Queues queues;
  private final Releases releases;
  final Counters counters = new Counters();
  final Availability reading;
  private final Availability writing;
  final Ends ends = new Ends(this);
  final Troubles troubles = new Troubles();
  private final AtomicBoolean started = new AtomicBoolean();
  private final AtomicBoolean forgetting = new AtomicBoolean();
  private volatile boolean closing;
  private long driftMillis;
  private int beats;

  Engine(
      TimerStore store,
      Timer timer,
      EngineClock clock,
      Executor storeExecutor,
      Executor upkeepExecutor,
      Committer.Factory committers,
      Settings settings,
      Map<String, HandlerLane.Config> handlers,
      Executor handlerExecutor) {
    this.store = store;
    this.timer = timer;
    waits = new Waits(timer, this::wheelStopped);
    this.clock = clock;
    this.storeExecutor = storeExecutor;
    this.upkeepExecutor = upkeepExecutor;
    this.settings = settings;
    reading = new Availability(timer.timeSource());
    writing = new Availability(timer.timeSource());
    committer = committers.create(waits, turns, new Commits());
    this.handlers = handlers;
    this.handlerExecutor = handlerExecutor;
    minGraceMillis = Decision.graceMillis(MIN_GRACE, store.traits().lease());
    pace = new Pace(this, settings.overduePerSecond());
    queues = new Queues(this, store);
    releases = new Releases(this, store);
  }

  /** Begins to fire, for the handlers that there are by now. */
  void start() {
    if (closing) {
      throw closed();
    }
    if (started.getAndSet(true)) {
      return;
    }
    Map<String, HandlerLane> made = new HashMap<>();
    handlers.forEach(
        (name, config) -> made.put(name, new HandlerLane(this, config, handlerExecutor)));
    lanes = Map.copyOf(made);
    driftMillis = driftMillis();
    Timeout beat = null;
    try {
      beat = timer.newTimeout(new Beat(), BEAT);
      store.start(this);
    } catch (RuntimeException | Error e) {
      started.set(false);
      if (beat != null) {
        beat.cancel();
      }
      throw e;
    }
    if (!store.traits().sweep().isZero()) {
      waits.start(this::sweep, store.traits().sweep());
    }
    releases.start();
    forgetInTime();
  }

  // Seams

  Timer timer() {
    return timer;
  }

  Waits waits() {
    return waits;
  }

  Queues queues() {
    return queues;
  }

  long nowMillis() {
    return clock.nowMillis();
  }

  /** A run that is later than this may have been missed; the least grace there is. */
  long minGraceMillis() {
    return minGraceMillis;
  }

  /** How late a run may begin before it counts as missed. */
  long graceMillis(TimerDefinition definition) {
    return Math.max(minGraceMillis, definition.graceMillis());
  }

  /** What a timer does after a run that ends now. */
  NextRun nextRun(TimerRecord record, Claim claim) {
    return NextRun.after(record, claim, graceMillis(record.definition()), nowMillis());
  }

  /** Says that missed runs of a timer are left out, as its rule for them wants it. */
  void dropped(TimerKey key, long runs) {
    if (runs > 0) {
      counters.skipped.add(runs);
      String many = runs == Decision.MAX_COUNTED ? " or more" : "";
      troubles.add("behind", key, runs + many + " missed runs were dropped");
    }
  }

  double random() {
    return settings.random().getAsDouble();
  }

  /**
   * Has work done that may block; in a while, if the executor refuses it.
   *
   * @return false if it will not be done: the engine is closed, or its wheel was stopped
   */
  boolean executeStoreWork(Runnable work) {
    return execute(storeExecutor, work);
  }

  /** The same for work that may take long: what is due must not wait for it. */
  boolean executeUpkeep(Runnable work) {
    return execute(upkeepExecutor, work);
  }

  private boolean execute(Executor executor, Runnable work) {
    try {
      turns.execute(executor, work);
      return true;
    } catch (RuntimeException | Error e) {
      return !closing && executeLater(executor, work, e);
    }
  }

  private boolean executeLater(Executor executor, Runnable work, Throwable refusal) {
    LOG.log(System.Logger.Level.WARNING, "the store's executor refuses work", refusal);
    try {
      waits.start(() -> execute(executor, work), REFUSED_WAIT);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  /** Waits for a future; a caller that drives the engine by hand runs its tasks meanwhile. */
  <T> T await(CompletableFuture<T> future) {
    if (storeExecutor instanceof StepExecutor steps) {
      while (!future.isDone() && steps.runOne()) {
        // The future may be done by the next one.
      }
      if (!future.isDone()) {
        throw new IllegalStateException(
            "the store has not answered, and nothing is left to run: move the clock");
      }
    }
    return Futures.join(future);
  }

  boolean isClosing() {
    return closing;
  }

  // Changes

  CompletableFuture<Outcome> submit(Change change) {
    checkOpen();
    return committer.submit(change).thenApply(this::observed);
  }

  /** Changes of one caller; each call has to let its outcome be {@link #observed}. */
  void submitAll(List<? extends Committer.Call> calls) {
    committer.submitAll(calls);
  }

  /** A handler goes on until it ends: otherwise each close would fail attempts. */
  void checkOpen() {
    if (closing && !isRunBy(Thread.currentThread())) {
      throw closed();
    }
  }

  static IllegalStateException closed() {
    return new IllegalStateException("the durable timer is closed");
  }

  @Nullable TimerRecord read(TimerKey key) {
    return store.get(key);
  }

  void observe(TimerRecord record) {
    if (record.state() == TimerState.FIRING && (record.cancelRequested() || record.paused())) {
      HandlerLane lane = lanes.get(record.definition().handler());
      if (lane != null) {
        lane.giveBack(run -> run.isClaimOf(record));
      }
    }
    Shard shard = shards.get(shardOf(record.key()));
    if (shard != null) {
      shard.observe(record);
    }
  }

  /** A change of an owner; what it leaves is observed. */
  void submitOwn(Change change, Consumer<@Nullable Outcome> then) {
    committer.submitOwn(
        change,
        outcome -> {
          try {
            if (outcome != null && outcome.answer() == Outcome.Answer.STALE_OWNER) {
              stale(change);
            } else if (outcome != null) {
              observed(outcome);
            }
          } finally {
            then.accept(outcome);
          }
        });
  }

  /** What a commit left, and whom it concerns. */
  Outcome observed(Outcome outcome) {
    TimerRecord record = outcome.record();
    if (record != null) {
      observe(record);
      if (record.state() == TimerState.READY) {
        queues.ready(record.key().namespace(), record.definition().handler());
      }
    }
    return outcome;
  }

  private void stale(Change change) {
    int number = shardOf(change.key());
    Shard shard = shards.get(number);
    if (shard != null && shard.epoch == change.epoch() && shards.remove(number, shard)) {
      counters.staleOwner.increment();
      LOG.log(
          System.Logger.Level.WARNING,
          "shard {0} was lost: it has another owner than epoch {1} by now",
          number,
          shard.epoch);
      shard.close();
    }
  }

  /** Learns from the committer how commits go. */
  private final class Commits implements Committer.Listener {
    @Override
    public void answered() {
      writing.answered();
    }

    @Override
    public void failed(int changes, StoreException failure) {
      counters.failedCommits.increment();
      writing.failed("a commit of " + changes, failure);
    }

    @Override
    public void unknown(Change change, boolean own) {
      counters.unknownOutcomes.increment();
      Shard shard = shards.get(shardOf(change.key()));
      if (shard != null && !own) {
        shard.reload();
      }
    }

    @Override
    public void rejected(Change change, StoreException failure) {
      counters.rejected.increment();
      String step = change.getClass().getSimpleName();
      troubles.add("rejected by the store", change.key(), step + ": " + failure.getMessage());
    }

    @Override
    public boolean isAwaited(Thread thread) {
      return isRunBy(thread);
    }
  }

  private int shardOf(TimerKey key) {
    return Shards.of(key, store.traits().shards());
  }

  // What is due

  /** An entry whose time has come. Called by the timer's thread, so it only passes it on. */
  void due(Window.Entry entry) {
    if (entry.shard().isPaced(entry.due.fireAt())) {
      pace.add(entry);
    } else {
      dispatch(entry);
    }
  }

  /** What an entry waits for: its handler, or one for all queues and handlers that are not here. */
  String laneOf(DueTimer due) {
    return due.queue() || !lanes.containsKey(due.handler()) ? "" : due.handler();
  }

  /** How many different ones {@link #laneOf} can name. */
  int shares() {
    return lanes.size() + 1;
  }

  void dispatch(Window.Entry entry) {
    if (closing) {
      return;
    }
    HandlerLane lane = lanes.get(entry.due.handler());
    if (entry.due.queue()) {
      queues.due(entry);
    } else if (lane != null) {
      lane.add(entry);
    } else {
      parking.enter(entry);
    }
  }

  private void park(Window.Entry entry) {
    if (entry.due.state() == TimerState.FIRING) {
      // An attempt died with its process, and nobody here knows its handler.
      HandlerLane.orphaned(this, entry, parking::leave);
      return;
    }
    counters.parked.increment();
    troubles.add("parked", entry.due.key(), "no handler \"" + entry.due.handler() + "\" here");
    submitOwn(
        new Change.Park(
            entry.due.key(),
            entry.due.version(),
            entry.due.revision(),
            entry.shard().epoch,
            "no node knows the handler \"" + entry.due.handler() + '"',
            nowMillis()),
        outcome -> {
          entry.shard().answered(entry.due.key(), outcome);
          parking.leave();
        });
  }

  // Ownership and hints

  @Override
  public void acquired(int number, long epoch) {
    if (closing) {
      return;
    }
    Shard shard = new Shard(this, store, number, epoch, settings.windowCap(store));
    Shard before = shards.put(number, shard);
    if (before != null) {
      before.close();
    }
    shard.look();
  }

  @Override
  public CompletionStage<Void> releasing(int number) {
    Shard shard = shards.get(number);
    if (shard == null) {
      return CompletableFuture.completedFuture(null);
    }
    shard.close();
    return shard.quiet();
  }

  @Override
  public void lost(int number) {
    Shard shard = shards.remove(number);
    if (shard != null) {
      shard.close();
    }
  }

  @Override
  public void added(int number, long fireAt) {
    Shard shard = shards.get(number);
    if (shard != null) {
      shard.hint(fireAt);
    }
  }

  @Override
  public void ready(String namespace, String queue) {
    queues.ready(namespace, queue);
  }

  // The beat

  /** Goes on while the wheel does. The owner of a wheel may stop it too early. */
  private final class Beat implements TimerTask {
    @Override
    public void run(Timeout timeout) {
      if (closing) {
        return;
      }
      if (timeout.reschedule(BEAT)) {
        beat();
      } else {
        wheelStopped();
      }
    }

    @Override
    public void cancelled(Timeout timeout) {
      if (timer.isStopped()) {
        wheelStopped();
      }
    }
  }

  /** Without a wheel nothing fires, so nothing must be acknowledged: as good as closed. */
  void wheelStopped() {
    if (closing) {
      return;
    }
    LOG.log(
        System.Logger.Level.ERROR,
        "the wheel was stopped before the durable timer was closed: nothing fires any more, and"
            + " calls are refused");
    beginClosing();
    committer.wheelStopped();
  }

  private void beat() {
    lookAtClock();
    shards.values().forEach(Shard::beat);
    waits.beat();
    if (++beats % BEATS_PER_UPKEEP == 0) {
      troubles.report();
      upkeep();
    }
  }

  /** Notices that the wall clock has jumped, or that the machine was suspended. */
  void lookAtClock() {
    long change;
    synchronized (clock) {
      long drift = driftMillis();
      change = drift - driftMillis;
      if (Math.abs(change) <= DRIFT_MILLIS) {
        return;
      }
      driftMillis = drift;
    }
    if (change > JUMP_MILLIS) {
      counters.clockJumps.increment();
      LOG.log(
          System.Logger.Level.WARNING,
          "the clock has gone ahead by {0} ms, or the machine was suspended: what is overdue fires"
              + " at {1} a second at most",
          change,
          settings.overduePerSecond());
      long nowMillis = nowMillis();
      shards.values().forEach(shard -> shard.partAndPace(nowMillis));
    } else if (change < 0) {
      long nowMillis = nowMillis();
      shards.values().forEach(shard -> shard.clockWentBack(nowMillis));
    }
    shards.values().forEach(Shard::rearm);
  }

  /** How far the wall clock is ahead of the timer's, counted from anywhere. */
  private long driftMillis() {
    return nowMillis() - timer.timeSource().nanoTime() / 1_000_000;
  }

  private void sweep() {
    if (closing) {
      return;
    }
    waits.start(this::sweep, store.traits().sweep());
    shards.values().forEach(Shard::reload);
    queues.sweep();
  }

  /** Looks after what is left over; whatever may take long has a thread of its own. */
  private void upkeep() {
    lanes.values().forEach(HandlerLane::upkeep);
    ends.upkeep();
    shards.values().forEach(Shard::upkeep);
    releases.upkeep();
    forgetInTime();
  }

  /**
   * What was claimed before a namespace, or everything, was paused, and has not begun, does not.
   */
  void paused(String scope) {
    boolean all = scope.equals(TimerStore.EVERYTHING);
    lanes.values().forEach(lane -> lane.giveBack(run -> all || run.isOf(scope)));
  }

  /** What was claimed of a shard that goes, and has not begun, does not begin here. */
  void left(Shard shard) {
    ends.leave(shard);
    lanes.values().forEach(lane -> lane.giveBack(run -> run.isOf(shard)));
  }

  /** Frees what was held by a pause that is over. */
  void resumed() {
    releases.start();
  }

  /** Known handlers: what is parked for them goes on. */
  boolean knows(String handler) {
    return lanes.containsKey(handler);
  }

  /** Never twice at once: a store that takes long for it must not have to do it again and again. */
  private void forgetInTime() {
    if (!forgetting.getAndSet(true) && !executeUpkeep(this::forgetOnce)) {
      forgetting.set(false); // closed
    }
  }

  private void forgetOnce() {
    try {
      forget();
    } catch (RuntimeException | Error e) {
      if (!closing) {
        LOG.log(System.Logger.Level.WARNING, "cannot forget what is finished; tried again", e);
      }
    } finally {
      forgetting.set(false);
    }
  }

  private void forget() {
    long finishedBefore =
        EpochMillis.saturatedSubtract(nowMillis(), EpochMillis.ceil(settings.remember()));
    while (!closing && store.forget(finishedBefore, settings.rememberAtMost(), PAGE) == PAGE) {
      // There may be more.
    }
  }

  // The end

  /** Lets nothing begin any more. */
  void beginClosing() {
    closing = true;
    committer.refuseCallers();
    shards.values().forEach(Shard::close);
    queues.close();
    lanes.values().forEach(HandlerLane::close);
  }

  /** Whether nothing runs, and all that ended is recorded. */
  boolean isIdle() {
    // In this order: what ends an attempt, or gives a lease back, is with the
    // committer before its lane, or the queues, are idle.
    return lanes.values().stream().allMatch(HandlerLane::isIdle)
        && queues.isIdle()
        && committer.isIdle();
  }

  /** Whether a thread is in a handler of this engine. */
  boolean isRunBy(Thread thread) {
    return lanes.values().stream().anyMatch(lane -> lane.isRunBy(thread));
  }

  void close() {
    lanes.values().forEach(HandlerLane::interrupt);
    committer.close();
  }

  DurableStats stats() {
    return new DurableStats(
        counters.fired.sum(),
        counters.succeeded.sum(),
        counters.failed.sum(),
        counters.setAside.sum(),
        counters.parked.sum(),
        counters.lost.sum(),
        counters.skipped.sum(),
        counters.staleOwner.sum(),
        counters.unknownOutcomes.sum(),
        counters.failedCommits.sum(),
        counters.rejected.sum(),
        counters.clockJumps.sum() + clock.jumpsBack.sum(),
        shards.size(),
        shards.values().stream().mapToInt(Shard::size).sum(),
        pace.size(),
        lanes.values().stream().mapToInt(HandlerLane::waiting).sum(),
        lanes.values().stream().mapToInt(HandlerLane::running).sum(),
        committer.callersWaiting(),
        committer.ownWaiting() + ends.size(),
        reading.isAvailable() && writing.isAvailable(),
        counters.lag.snapshot());
  }

  /** What does not change while the engine lives. */
  record Settings(
      int maxWindow,
      int overduePerSecond,
      Duration remember,
      long rememberAtMost,
      DoubleSupplier random) {
    int windowCap(TimerStore store) {
      return Math.max(16, maxWindow / store.traits().shards());
    }
  }
}
