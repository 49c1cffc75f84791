// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.HandlerNames;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StepExecutor;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerDefinition;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What goes on behind a {@link DurableTimer}: the windows of the shards that this session owns, the
 * lanes of handlers, and the beat that keeps them going.
 *
 * <p>It has no thread of its own. The timer's thread only moves entries; everything that touches
 * the store runs on the store's executors, and handlers run on theirs.
 */
final class Engine {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final Duration MIN_GRACE = Duration.ofSeconds(1);

  /** The wait of store work that the store's executor refuses. */
  private static final Duration REFUSED_WAIT = Duration.ofSeconds(1);

  private final TimerStore store;
  private final Timer timer;
  private final Waits waits;
  private final EngineClock clock;
  private final Executor storeExecutor;
  private final Executor upkeepExecutor;
  private final Executor consumerExecutor;
  private final Turns turns = new Turns();
  private final Committer committer;
  private final Settings settings;
  private final OtherThreads handlerThreads;
  private final Lanes lanes;
  private final KnownHandlers known;
  final OwnedShards shards;
  final Sweeps sweeps;
  private final long minGraceMillis;
  private final Pace pace;
  private final Parking parking = new Parking(this);
  private final Beat beat;
  private final Queues queues;
  private final QueueConsumers consumers;
  private final HandlerLeases leases;
  private final Releases releases;
  final Counters counters = new Counters();
  final Availability reading;
  private final Availability writing;
  final Ends ends = new Ends(this);
  final MissedRule missed = new MissedRule(this);
  final Troubles troubles = new Troubles();
  final PauseGate pauseGate = new PauseGate();
  private final AtomicBoolean started = new AtomicBoolean();
  private final Forgetting forgetting;
  private final ClockSteps clockSteps;
  private volatile boolean closing;

  Engine(
      TimerStore store,
      Timer timer,
      EngineClock clock,
      Executor storeExecutor,
      Executor upkeepExecutor,
      Executor consumerExecutor,
      Committer.Factory committers,
      Settings settings,
      Map<String, HandlerLane.Config> handlers,
      Map<String, HandlerFamily.Config> families,
      Executor handlerExecutor) {
    this.store = store;
    this.timer = timer;
    waits = new Waits(timer, this::wheelStopped);
    this.clock = clock;
    this.storeExecutor = storeExecutor;
    this.upkeepExecutor = upkeepExecutor;
    this.consumerExecutor = consumerExecutor;
    this.settings = settings;
    reading = new Availability(timer.timeSource());
    writing = new Availability(timer.timeSource());
    committer = committers.create(waits, turns, new Commits());
    handlerThreads = new OtherThreads(handlerExecutor);
    lanes =
        new Lanes(
            handlers,
            families,
            (config, onUnused) -> new HandlerLane(this, config, handlerThreads, onUnused));
    known = new KnownHandlers(lanes);
    minGraceMillis = Decision.graceMillis(MIN_GRACE, store.traits().lease());
    shards =
        new OwnedShards(this, store, Math.max(16, settings.maxWindow() / store.traits().shards()));
    sweeps = new Sweeps(this, store, shards);
    beat = new Beat(this, settings.overduePerSecond());
    pace = new Pace(this, settings.overduePerSecond());
    queues = new Queues(this);
    consumers = new QueueConsumers(this, store);
    leases = new HandlerLeases(this, store, lanes);
    releases = new Releases(this, store);
    clockSteps = new ClockSteps(this, store);
    forgetting = new Forgetting(this, store, settings.remember(), settings.rememberAtMost());
  }

  /** Begins to fire, for the handlers that there are by now. */
  void start() {
    if (closing) {
      throw closed();
    }
    if (started.getAndSet(true)) {
      return;
    }
    Timeout firstBeat = null;
    try {
      handlerThreads.check();
      lanes.start();
      firstBeat = beat.start();
      store.start(shards);
    } catch (RuntimeException | Error e) {
      started.set(false);
      if (firstBeat != null) {
        firstBeat.cancel();
      }
      throw e;
    }
    if (store.traits().sweep().isZero()) {
      known.report(HandlerNames.NONE);
    } else {
      waits.start(this::sweep, store.traits().sweep());
    }
    if (!isClient()) {
      releases.start();
      forgetting.start();
      new UnknownHandlers(this, store).start();
    }
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

  QueueConsumers consumers() {
    return consumers;
  }

  HandlerLeases leases() {
    return leases;
  }

  long nowMillis() {
    return clock.nowMillis();
  }

  /** How long before its time something is claimed. */
  long claimAheadMillis() {
    return store.traits().claimAhead().toMillis();
  }

  /**
   * Whether a timer is claimed ahead of its time: one whose handler runs here. Others wait for
   * their time, and an attempt of another owner lasts until its time, too.
   */
  boolean isClaimedAhead(DueTimer due) {
    return !due.queue() && due.state() != TimerState.RUNNING && lanes.knows(due.handler());
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

  /** Whether the run that is claimed was missed. */
  boolean isCatchUp(TimerRecord record) {
    return Decision.isCatchUp(record, graceMillis(record.definition()));
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

  /** The same for the claims of consumers: due timers must not wait for them either. */
  boolean executeClaims(Runnable work) {
    return execute(consumerExecutor, work);
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

  /** Whether nothing may begin any more. */
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

  /** The clock has gone back by more than is waited out: waits go on by elapsed time. */
  void clockWentBack(long backMillis, long nowMillis) {
    clockSteps.wentBack(backMillis, nowMillis);
  }

  /** Looks whether the clock has jumped: what is read next is read by the present time. */
  void lookAtClock() {
    beat.lookAtClock();
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
    if (record.state() == TimerState.RUNNING && (record.cancelRequested() || record.paused())) {
      giveBack(
          () -> {
            HandlerLane lane = lanes.of(record.definition().handler());
            if (lane != null) {
              lane.giveBack(run -> run.isClaimOf(record));
            }
          });
    }
    shards.observe(record);
    clockSteps.observe(record);
  }

  /** Has attempts given back that wait, and those whose claim is committed and not yet told. */
  private void giveBack(Runnable work) {
    work.run();
    committer.whenTold(work);
  }

  /** A change of an owner; what it leaves is observed. */
  void submitOwn(Change change, Consumer<@Nullable Outcome> then) {
    committer.submitOwn(change, outcome -> committed(change, outcome, then));
  }

  /** The same for a change of a backlog, which shares the commits with the changes of callers. */
  void submitBulk(Change change, Consumer<@Nullable Outcome> then) {
    committer.submitBulk(change, outcome -> committed(change, outcome, then));
  }

  /** The same for a change that should be committed by a time, and waits for others until then. */
  void submitOwn(Change change, long byMillis, Consumer<@Nullable Outcome> then) {
    long patienceMillis = store.traits().patience().toMillis();
    long leftMillis = EpochMillis.saturatedSubtract(byMillis, nowMillis());
    if (patienceMillis > 0 && leftMillis > patienceMillis * 3 / 2) { // the half is for the commit
      committer.submitPatiently(change, outcome -> committed(change, outcome, then));
    } else {
      submitOwn(change, then);
    }
  }

  private void committed(
      Change change, @Nullable Outcome outcome, Consumer<@Nullable Outcome> then) {
    try {
      if (outcome != null && outcome.answer() == Outcome.Answer.STALE_OWNER) {
        shards.stale(change);
      } else if (outcome != null) {
        observed(outcome);
      }
    } finally {
      then.accept(outcome);
    }
  }

  /** What a commit left, and whom it concerns. */
  Outcome observed(Outcome outcome) {
    TimerRecord record = outcome.record();
    if (record != null) {
      observe(record);
      if (record.state() == TimerState.READY) {
        ready(record.key().namespace(), record.definition());
      }
    }
    return outcome;
  }

  private void ready(String namespace, TimerDefinition definition) {
    if (definition.queue()) {
      consumers.ready(namespace, definition.handler());
    } else {
      leases.ready(definition.handler());
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
      Shard shard = shards.of(change.key());
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

  // What is due

  /** An entry whose time has come. Called by the timer's thread, so it only passes it on. */
  void due(DueEntry entry) {
    if (entry.shard().isPaced(entry.due.fireAt())) {
      pace.add(entry);
    } else {
      dispatch(entry);
    }
  }

  /** What an entry waits for: its handler, or one for all queues and handlers that are not here. */
  String laneOf(DueTimer due) {
    return due.queue() || !lanes.knows(due.handler()) ? "" : due.handler();
  }

  /** Into how many parts the room for what is overdue is shared. */
  int shares() {
    return lanes.shares();
  }

  void dispatch(DueEntry entry) {
    if (closing) {
      return;
    }
    if (entry.due.queue()) {
      queues.due(entry);
    } else if (!lanes.add(entry)) {
      if (known.contains(entry.due.handler())) {
        queues.due(entry); // another node leases it, as a consumer does
      } else {
        parking.due(entry);
      }
    }
  }

  // Time

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

  private void sweep() {
    if (closing) {
      return;
    }
    waits.start(this::sweep, store.traits().sweep());
    sweeps.sweep();
    consumers.sweep();
    leases.sweep();
  }

  /** Looks after what is left over. */
  void upkeep() {
    turns.upkeep();
    lanes.upkeep();
    ends.upkeep();
    shards.forEach(Shard::upkeep);
    if (!isClient()) {
      releases.upkeep();
      forgetting.start();
    }
  }

  /**
   * Gives back attempts of a paused scope that are claimed and have not begun.
   *
   * @return how many attempts of the scope run
   */
  int paused(String scope) {
    pauseGate.paused(scope);
    Predicate<AttemptRun> inScope =
        scope.equals(TimerStore.EVERYTHING) ? run -> true : run -> run.isOf(scope);
    giveBack(() -> lanes.all().forEach(lane -> lane.giveBack(inScope)));
    return lanes.all().stream().mapToInt(lane -> lane.begun(inScope)).sum();
  }

  /** Whether this session still owns its shards, by its own clock. */
  boolean isLive() {
    return store.isLive();
  }

  /** What was claimed of a shard that goes, and has not begun, does not begin here. */
  void left(Shard shard) {
    ends.leave(shard);
    lanes.all().forEach(lane -> lane.giveBack(run -> run.isOf(shard)));
  }

  /** Frees what was held by a pause that is over. */
  void resumed() {
    releases.startEverywhere();
    consumers.sweep();
  }

  /** Whether this session owns a shard. */
  boolean owns(int shard) {
    return shards.owns(shard);
  }

  /** A shard has come from elsewhere: what is blocked in it may have its handler here. */
  void acquired() {
    if (!store.traits().sweep().isZero()) {
      releases.start();
    }
  }

  /** Whether this engine takes no shards: it fires nothing, and deletes no history. */
  boolean isClient() {
    return settings.client();
  }

  /** The handlers of this engine. */
  HandlerNames ownHandlers() {
    return lanes.names();
  }

  /** The handlers that live nodes know, this one included. */
  KnownHandlers handlers() {
    return known;
  }

  /** Live nodes know other handlers than before. */
  void known(HandlerNames ofLiveNodes) {
    known.report(ofLiveNodes);
    if (!isClient()) {
      releases.start(); // a blocked timer may have a node that runs it by now
    }
  }

  // The end

  /** Lets nothing begin any more. */
  void beginClosing() {
    closing = true;
    committer.refuseCallers();
    shards.forEach(Shard::close);
    consumers.close();
    leases.close();
    lanes.close();
  }

  /** Whether nothing runs, and all that ended is recorded. */
  boolean isIdle() {
    // In this order: what ends an attempt, or gives a lease back, is with the
    // committer before its lane, or the consumers, are idle.
    return lanes.all().stream().allMatch(HandlerLane::isIdle)
        && consumers.isIdle()
        && committer.isIdle();
  }

  /** Whether a thread is in a handler of this engine. */
  boolean isRunBy(Thread thread) {
    return lanes.all().stream().anyMatch(lane -> lane.isRunBy(thread));
  }

  void close() {
    lanes.all().forEach(HandlerLane::interrupt);
    committer.close();
  }

  DurableStats stats() {
    return new DurableStats(
        counters.fired.sum(),
        counters.succeeded.sum(),
        counters.failed.sum(),
        counters.exhausted.sum(),
        counters.blocked.sum(),
        counters.lost.sum(),
        counters.skipped.sum(),
        counters.staleOwner.sum(),
        counters.unknownOutcomes.sum(),
        counters.failedCommits.sum(),
        counters.rejected.sum(),
        counters.clockJumps.sum() + clock.jumpsBack.sum(),
        shards.count(),
        shards.entries(),
        pace.size(),
        lanes.waiting(),
        lanes.running(),
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
      boolean client,
      DoubleSupplier random) {}
}
