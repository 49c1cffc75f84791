// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import io.timewheel.durable.CancelResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerException;
import io.timewheel.durable.Firing;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.RetryPolicy;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerFilter;
import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.History.Answer;
import io.timewheel.durable.testkit.History.Call;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
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
  private int calls;

  private final class Node {
    final InMemoryTimerStore session = data.join();
    final FaultyStore faulty = new FaultyStore(new Recording(wrap.apply(session)));
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
    for (int shard = 0; shard < SHARDS; shard++) {
      any().session.takeShard(shard);
    }
    kit.advanceBy(Duration.ofMinutes(3));
    return new HistoryChecker(MAX_SKEW_MILLIS).check(history, left());
  }

  private void step() {
    switch (random.nextInt(12)) {
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
    long dueAt = kit.now().toEpochMilli() + random.nextInt(8_000);
    // No more ids than a timer remembers.
    String requestId = random.nextInt(3) == 0 ? "r" + random.nextInt(8) : null;
    TimerSpec spec =
        TimerSpec.of(key.namespace(), key.id())
            .handler("h")
            .at(Instant.ofEpochMilli(dueAt))
            .retry(new RetryPolicy(50, Duration.ofMillis(100), Duration.ofSeconds(1)));
    if (requestId != null) {
      spec.requestId(requestId);
    }
    history.add(new History.Invoked(call, key, Call.SCHEDULE, dueAt, requestId));
    any()
        .timer
        .scheduleAsync(spec)
        .whenComplete(
            (result, error) ->
                history.add(
                    result == null
                        ? new History.Answered(call, key, answer(error), 0)
                        : new History.Answered(
                            call, key, answer(result.outcome()), result.version())));
  }

  private void cancel() {
    TimerKey key = key();
    int call = ++calls;
    history.add(new History.Invoked(call, key, Call.CANCEL, 0, null));
    any()
        .timer
        .cancelAsync(key.namespace(), key.id())
        .whenComplete(
            (result, error) ->
                history.add(
                    result == null
                        ? new History.Answered(call, key, answer(error), 0)
                        : new History.Answered(
                            call, key, answer(result.outcome()), result.version())));
  }

  private TimerKey key() {
    return new TimerKey("sim", "t" + random.nextInt(IDS));
  }

  private static Answer answer(ScheduleResult.Outcome outcome) {
    return Answer.valueOf(outcome.name());
  }

  private static Answer answer(CancelResult.Outcome outcome) {
    return Answer.valueOf(outcome.name());
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

  private Map<TimerKey, TimerState> left() {
    Map<TimerKey, TimerState> left = new HashMap<>();
    any()
        .timer
        .list(TimerFilter.all().states(EnumSet.allOf(TimerState.class)), 10_000, null)
        .timers()
        .forEach(timer -> left.put(timer.key(), timer.state()));
    return left;
  }

  /** Notes each success that the store has taken. */
  private final class Recording extends StoreBelow {
    Recording(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      Map<TimerKey, Long> scheduledAt = new HashMap<>();
      for (Change change : changes) {
        var record = get(change.key());
        if (record != null && record.claim() != null) {
          scheduledAt.put(change.key(), record.claim().scheduledAt());
        }
      }
      List<Outcome> outcomes = super.commit(changes);
      for (int i = 0; i < changes.size(); i++) {
        if (changes.get(i) instanceof Change.Finish finish
            && finish.end() == Change.Finish.End.SUCCEEDED
            && outcomes.get(i).record() != null
            && outcomes.get(i).answer() == Outcome.Answer.APPLIED
            && outcomes.get(i).record().state() == TimerState.DONE) {
          history.add(
              new History.Completed(
                  finish.key(),
                  outcomes.get(i).version(),
                  scheduledAt.getOrDefault(finish.key(), 0L)));
        }
      }
      return outcomes;
    }
  }
}
