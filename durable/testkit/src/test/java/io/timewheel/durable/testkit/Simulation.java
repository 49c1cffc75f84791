// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerException;
import io.timewheel.durable.Firing;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.RetryPolicy;
import io.timewheel.durable.TimerFilter;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.Verb;
import io.timewheel.durable.VerbResult;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.History.Answer;
import io.timewheel.durable.testkit.History.Call;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Several nodes on one store, on one thread, with everything random that may be: the order of
 * steps, the faults, the kills, who owns what, the clocks. The same seed gives the same run.
 */
final class Simulation {
  // Held here: a logger that nobody holds forgets its level. Faults are what a simulation is for.
  private static final Logger QUIET = Logger.getLogger(DurableTimer.class.getName());

  static {
    QUIET.setLevel(Level.OFF);
  }

  private static final int SHARDS = 3;
  private static final int IDS = 6;
  private static final int MAX_SKEW_MILLIS = 300;

  private final Random random;
  private final DurableTestkit kit;
  private final History history = new History();
  private final InMemoryTimerStore data;
  private final UnaryOperator<TimerStore> wrap;
  private final List<Node> nodes = new ArrayList<>();
  private boolean faults = true;
  private boolean delaying;
  private int calls;

  private final class Node {
    final InMemoryTimerStore session = data.join();
    final FaultyStore faulty = new FaultyStore(new Slow(new Recording(wrap.apply(session))));
    final DurableTimer timer;

    Node() {
      faulty.faults(changes -> fault());
      timer =
          kit.start(
              faulty,
              builder -> builder.handler("h", Simulation.this::handle, 3, null).maxWindow(48));
    }
  }

  Simulation(long seed) {
    this(seed, UnaryOperator.identity());
  }

  /** With stores that are wrapped, for faults that must be found. */
  Simulation(long seed, UnaryOperator<TimerStore> wrap) {
    random = new Random(seed);
    this.wrap = wrap;
    kit = DurableTestkit.create(random);
    data =
        InMemoryTimerStore.create(
            new StoreTraits(
                SHARDS,
                2,
                1 + random.nextInt(5),
                Duration.ofSeconds(5),
                Duration.ofMillis(random.nextBoolean() ? 0 : 100),
                Duration.ofMillis(500)));
    data.hints(random.nextBoolean());
  }

  /** Runs, and returns what is wrong. */
  List<String> run(int steps) {
    nodes.add(new Node());
    nodes.add(new Node());
    for (int shard = 0; shard < SHARDS; shard++) {
      any().session.takeShard(shard);
    }
    for (int i = 0; i < steps; i++) {
      step();
    }
    faults = false;
    any().timer.resumeAll();
    for (int shard = 0; shard < SHARDS; shard++) {
      any().session.takeShard(shard);
    }
    kit.settle();
    for (int id = 0; id < IDS; id++) {
      verb(Call.RESUME, new TimerKey("sim", "t" + id));
    }
    kit.advanceBy(Duration.ofMinutes(3));
    Map<TimerKey, TimerInfo> left = left();
    Map<TimerKey, TimerState> states = new HashMap<>();
    left.forEach((key, timer) -> states.put(key, timer.state()));
    List<String> violations =
        new ArrayList<>(new HistoryChecker(MAX_SKEW_MILLIS).check(history, states));
    left.values().stream()
        .filter(timer -> !timer.state().isFinished())
        .filter(timer -> timer.dueAt().isBefore(kit.now().minusSeconds(5)))
        .forEach(timer -> violations.add(timer.key() + ": overdue in the end: " + timer));
    return violations;
  }

  private void step() {
    switch (random.nextInt(16)) {
      case 0, 1, 2 -> schedule();
      case 3 -> cancel();
      case 4 -> kit.advanceBy(Duration.ofMillis(random.nextInt(3_000)));
      case 5 -> any().session.takeShard(random.nextInt(SHARDS));
      case 6 -> {
        if (random.nextInt(6) == 0) {
          kill();
        }
      }
      case 7 ->
          kit.skew(
              any().timer,
              Duration.ofMillis(random.nextInt(2 * MAX_SKEW_MILLIS) - MAX_SKEW_MILLIS));
      case 8 -> move();
      case 9 -> verb(Call.PAUSE, key());
      case 10 -> verb(Call.RESUME, key());
      case 11 -> {
        if (random.nextBoolean()) {
          any().timer.resumeAll();
        } else if (random.nextInt(4) == 0) {
          any().timer.pauseAll();
        }
      }
      default -> {
        for (int i = random.nextInt(10); i > 0; i--) {
          kit.step(any().timer);
        }
      }
    }
  }

  private Node any() {
    return nodes.get(random.nextInt(nodes.size()));
  }

  private void kill() {
    Node dead = any();
    kit.kill(dead.timer);
    nodes.remove(dead);
    nodes.add(new Node());
    for (int shard = 0; shard < SHARDS; shard++) {
      if (random.nextBoolean() || nodes.size() == 1) {
        any().session.takeShard(shard);
      }
    }
  }

  private FaultyStore.Fault fault() {
    if (!faults || random.nextInt(6) != 0) {
      return FaultyStore.Fault.NONE;
    }
    return switch (random.nextInt(4)) {
      case 0 -> FaultyStore.Fault.TRANSIENT;
      case 1 -> FaultyStore.Fault.LOST;
      default -> FaultyStore.Fault.DONE_BUT_FAILED;
    };
  }

  private void schedule() {
    TimerKey key = key();
    int call = ++calls;
    boolean recurs = random.nextInt(4) == 0;
    long period = recurs ? 1_000 + random.nextInt(3_000) : 0;
    long dueAt = kit.now().toEpochMilli() + random.nextInt(8_000);
    // No more ids than a timer remembers.
    String requestId = random.nextInt(3) == 0 ? "r" + random.nextInt(8) : null;
    TimerSpec spec =
        TimerSpec.of(key.namespace(), key.id())
            .handler("h")
            .at(Instant.ofEpochMilli(dueAt))
            .retry(new RetryPolicy(50, Duration.ofMillis(100), Duration.ofSeconds(1)));
    if (recurs) {
      spec.every(Duration.ofMillis(period));
    }
    if (requestId != null) {
      spec.requestId(requestId);
    }
    history.add(new History.Invoked(call, key, Call.SCHEDULE, dueAt, period, requestId));
    note(
        call,
        key,
        any().timer.scheduleAsync(spec),
        result ->
            new History.Answered(
                call, key, Answer.valueOf(result.outcome().name()), result.version()));
  }

  private void cancel() {
    TimerKey key = key();
    int call = ++calls;
    history.add(new History.Invoked(call, key, Call.CANCEL, 0, null));
    note(
        call,
        key,
        any().timer.cancelAsync(key.namespace(), key.id()),
        result ->
            new History.Answered(
                call, key, Answer.valueOf(result.outcome().name()), result.version()));
  }

  private void move() {
    TimerKey key = key();
    int call = ++calls;
    long dueAt = kit.now().toEpochMilli() + random.nextInt(8_000);
    history.add(new History.Invoked(call, key, Call.MOVE, dueAt, null));
    noteVerb(call, key, any().timer.moveAsync(key, Instant.ofEpochMilli(dueAt), 0));
  }

  private void verb(Call what, TimerKey key) {
    int call = ++calls;
    history.add(new History.Invoked(call, key, what, 0, null));
    noteVerb(call, key, any().timer.verbAsync(key, Verb.valueOf(what.name()), 0));
  }

  private void noteVerb(int call, TimerKey key, CompletionStage<VerbResult> stage) {
    note(
        call,
        key,
        stage,
        result ->
            new History.Answered(
                call,
                key,
                switch (result) {
                  case DONE -> Answer.DONE;
                  case UNCHANGED -> Answer.UNCHANGED;
                  case NOT_FOUND -> Answer.NOT_FOUND;
                  case WRONG_STATE, VERSION_DIFFERS -> Answer.REFUSED;
                },
                0));
  }

  private <T> void note(
      int call, TimerKey key, CompletionStage<T> stage, Function<T, History.Answered> answer) {
    stage.whenComplete(
        (result, error) ->
            history.add(
                result == null
                    ? new History.Answered(call, key, answer(error), 0)
                    : answer.apply(result)));
  }

  private TimerKey key() {
    return new TimerKey("sim", "t" + random.nextInt(IDS));
  }

  private static Answer answer(Throwable error) {
    Throwable cause = error.getCause() == null ? error : error.getCause();
    boolean unknown =
        !(cause instanceof DurableTimerException e)
            || e.reason() == DurableTimerException.Reason.UNKNOWN;
    return unknown ? Answer.UNKNOWN : Answer.REFUSED;
  }

  private void handle(Firing firing) {
    history.add(
        new History.Began(
            firing.key(),
            firing.version(),
            firing.scheduledAt().toEpochMilli(),
            firing.attempt(),
            kit.now().toEpochMilli()));
    if (random.nextInt(5) == 0) {
      throw new IllegalStateException("no luck");
    }
  }

  private Map<TimerKey, TimerInfo> left() {
    Map<TimerKey, TimerInfo> left = new HashMap<>();
    any()
        .timer
        .list(TimerFilter.all(), 10_000, null)
        .timers()
        .forEach(timer -> left.put(timer.key(), timer));
    return left;
  }

  /** Lets others go on before a commit is done, and before its answer comes. */
  private final class Slow extends ForwardingTimerStore {
    Slow(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      delay();
      List<Outcome> outcomes = super.commit(changes);
      delay();
      return outcomes;
    }

    private void delay() {
      if (!delaying && faults && random.nextInt(8) == 0) {
        delaying = true;
        for (int i = random.nextInt(6); i > 0; i--) {
          kit.step(any().timer);
        }
        delaying = false;
      }
    }
  }

  /** Notes each success that the store has taken. */
  private final class Recording extends ForwardingTimerStore {
    Recording(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      Map<ClaimToken, Claim> open = new HashMap<>();
      for (Change change : changes) {
        var record = get(change.key());
        if (record != null && record.claim() != null) {
          open.put(record.claim().token(), record.claim());
        }
      }
      List<Outcome> outcomes = super.commit(changes);
      for (int i = 0; i < changes.size(); i++) {
        if (changes.get(i) instanceof Change.Finish finish
            && finish.end() == Change.Finish.End.SUCCEEDED
            && outcomes.get(i).answer() == Outcome.Answer.APPLIED) {
          Claim claim = open.remove(finish.token());
          if (claim != null) {
            history.add(new History.Completed(finish.key(), claim.version(), claim.scheduledAt()));
          }
        }
      }
      return outcomes;
    }
  }
}
