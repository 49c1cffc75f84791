// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.durable.testkit.DurableTestkit;
import io.timewheel.durable.testkit.FaultyStore;
import io.timewheel.durable.testkit.History;
import io.timewheel.durable.testkit.HistoryChecker;
import io.timewheel.durable.testkit.RecordingStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Runs several nodes on one store and one thread. The order of steps, the faults, the kills, the
 * owners of shards and the clocks are random. The same seed gives the same run.
 */
final class Simulation {
  // Referenced here, because an unreferenced logger loses its level. Faults are expected in a
  // simulation.
  private static final Logger QUIET = Logger.getLogger(DurableTimer.class.getName());

  static {
    QUIET.setLevel(Level.OFF);
  }

  private static final int SHARDS = 3;
  private static final int MAX_SKEW_MILLIS = 300;

  private final Random random;
  private final DurableTestkit kit;
  private final History history = new History();
  private final InMemoryTimerStore data;
  private final UnaryOperator<TimerStore> wrap;
  private final List<Node> nodes = new ArrayList<>();
  private boolean faults = true;
  private boolean delaying;
  private final List<String> violations = new ArrayList<>();
  private final SimulatedCallers callers;
  private final SimulatedConsumers consumers;

  private final class Node {
    final InMemoryTimerStore session = data.join();
    final FaultyStore faulty =
        new FaultyStore(new Slow(new RecordingStore(wrap.apply(session), history::add)));
    final DurableTimer scheduler;

    Node(boolean knowsAll) {
      faulty.faults(changes -> fault());
      scheduler = kit.start(faulty, builder -> handlers(builder, knowsAll).maxWindow(48));
    }

    private DurableTimerBuilder handlers(DurableTimerBuilder builder, boolean all) {
      builder.handler("h", Simulation.this::handle, 3, null);
      return all
          ? builder.handler(SimulatedCallers.RARE, Simulation.this::handle, 3, null)
          : builder;
    }
  }

  Simulation(long seed) {
    this(seed, UnaryOperator.identity());
  }

  /** Creates a simulation with wrapped stores, which contain a fault. */
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
    data.notifications(random.nextBoolean());
    callers = new SimulatedCallers(random, kit, history, () -> any().scheduler);
    consumers = new SimulatedConsumers(random, () -> any().scheduler);
  }

  /** Runs the simulation, and returns the violations. */
  List<String> run(int steps) {
    nodes.add(new Node(true));
    nodes.add(new Node(random.nextBoolean()));
    for (int shard = 0; shard < SHARDS; shard++) {
      any().session.takeShard(shard);
    }
    for (int i = 0; i < steps; i++) {
      step();
    }
    faults = false;
    nodes.forEach(node -> kit.kill(node.scheduler));
    nodes.clear();
    nodes.add(new Node(true));
    nodes.add(new Node(true));
    for (int shard = 0; shard < SHARDS; shard++) {
      any().session.takeShard(shard);
    }
    callers.endWell();
    consumers.goOn();
    kit.advanceBy(Duration.ofSeconds(90));
    Map<TimerKey, TimerInfo> left = left();
    Map<TimerKey, TimerState> states = new HashMap<>();
    left.forEach((key, timer) -> states.put(key, timer.state()));
    violations.addAll(new HistoryChecker(MAX_SKEW_MILLIS, true).check(history, states));
    left.values().stream()
        .filter(timer -> !timer.state().isFinished() && timer.state() != TimerState.FAILED)
        .filter(timer -> timer.dueAt().isBefore(kit.now().minusSeconds(5)))
        .forEach(timer -> violations.add(timer.key() + ": overdue in the end: " + timer));
    return violations;
  }

  private void step() {
    switch (random.nextInt(16)) {
      case 0, 1, 2, 3, 4, 5 -> callers.call();
      case 6, 7 -> kit.advanceBy(Duration.ofMillis(random.nextInt(3_000)));
      case 8 -> any().session.takeShard(random.nextInt(SHARDS));
      case 9 -> {
        if (random.nextInt(6) == 0) {
          kill();
        }
      }
      case 10 ->
          kit.skew(
              any().scheduler,
              Duration.ofMillis(random.nextInt(2 * MAX_SKEW_MILLIS) - MAX_SKEW_MILLIS));
      case 11, 12 -> consumers.step();
      case 13 -> look();
      default -> {
        for (int i = random.nextInt(10); i > 0; i--) {
          kit.step(any().scheduler);
        }
      }
    }
  }

  private Node any() {
    return nodes.get(random.nextInt(nodes.size()));
  }

  private void kill() {
    Node dead = any();
    kit.kill(dead.scheduler);
    if (random.nextBoolean()) {
      dead.session.close(); // otherwise the others assume that it still has its handlers
    }
    nodes.remove(dead);
    nodes.add(new Node(random.nextInt(3) > 0));
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

  /** Verifies that all queries agree, while nothing changes. */
  private void look() {
    DurableTimer scheduler = any().scheduler;
    preview(scheduler);
    List<TimerInfo> listed = new ArrayList<>();
    String page = null;
    do {
      TimerList list = scheduler.timers(TimerFilter.all()).list(3, page);
      listed.addAll(list.timers());
      page = list.nextPage().orElse(null);
    } while (page != null);
    List<TimerKey> keys = listed.stream().map(TimerInfo::key).toList();
    if (!keys.equals(keys.stream().distinct().sorted().toList())) {
      violations.add("listed twice, or not in order: " + keys);
    }
    Map<String, Map<TimerState, Long>> counts = new HashMap<>();
    for (TimerInfo info : listed) {
      counts
          .computeIfAbsent(info.key().namespace(), name -> new EnumMap<>(TimerState.class))
          .merge(info.state(), 1L, Long::sum);
    }
    for (TimerKey key : SimulatedCallers.KEYS) {
      String found =
          scheduler.timer(key.namespace(), key.id()).get().map(TimerInfo::toString).orElse("");
      String inList =
          listed.stream()
              .filter(info -> info.key().equals(key))
              .map(TimerInfo::toString)
              .findFirst()
              .orElse("");
      if (!found.equals(inList)) {
        violations.add("found as " + found + ", and listed as " + inList);
      }
    }
    if (!scheduler.counts().equals(counts)) {
      violations.add("counted as " + scheduler.counts() + ", and listed as " + counts);
    }
    long waiting =
        listed.stream()
            .filter(
                info -> info.state() == TimerState.SCHEDULED || info.state() == TimerState.RETRYING)
            .count();
    Instant end = kit.now().plus(Duration.ofDays(1));
    long inHistogram =
        Arrays.stream(scheduler.allNamespaces().histogram(DurableTestkit.START, end, 100)).sum();
    if (waiting != inHistogram) {
      violations.add(inHistogram + " in the histogram, and " + waiting + " listed that wait");
    }
  }

  /** Verifies that a preview returns the times of a timer. */
  private void preview(DurableTimer scheduler) {
    Instant first = kit.now().plusMillis(random.nextInt(5_000));
    Duration period = Duration.ofMillis(1_000 + random.nextInt(3_000));
    TimerSpec spec = TimerSpec.of("sim", "t1").handler("h").at(first);
    List<Instant> once = scheduler.preview(spec, 3);
    List<Instant> often = scheduler.preview(spec.every(period), 3);
    if (!once.equals(List.of(first))
        || !often.equals(List.of(first, first.plus(period), first.plus(period.multipliedBy(2))))) {
      violations.add("previewed as " + once + ", and every " + period + " as " + often);
    }
  }

  private void handle(Firing firing) {
    history.add(
        new History.Began(
            firing.key(),
            firing.version(),
            firing.scheduledAt().toEpochMilli(),
            firing.attempt(),
            kit.now().toEpochMilli()));
    int luck = random.nextInt(16);
    if (luck < 4) {
      throw new IllegalStateException("no luck");
    } else if (luck == 4 && faults) {
      Instant to = kit.now().plusMillis(1 + random.nextInt(3_000));
      history.add(
          new History.Postponed(
              firing.key(),
              firing.version(),
              firing.scheduledAt().toEpochMilli(),
              to.toEpochMilli()));
      firing.reschedule(to);
    }
  }

  private Map<TimerKey, TimerInfo> left() {
    Map<TimerKey, TimerInfo> left = new HashMap<>();
    any()
        .scheduler
        .timers(TimerFilter.all())
        .list(10_000, null)
        .timers()
        .forEach(timer -> left.put(timer.key(), timer));
    return left;
  }

  /** Runs other tasks before a commit, and again before its answer. */
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

    /** A timer of a queue begins when it is leased; the answer may be delayed. */
    @Override
    public List<TimerRecord> lease(
        List<LeaseRequest> requests, int limit, long nowMillis, Supplier<ClaimToken> tokens) {
      List<TimerRecord> records = super.lease(requests, limit, nowMillis, tokens);
      for (TimerRecord record : records) {
        if (record.definition().queue()) {
          history.add(
              new History.Began(
                  record.key(),
                  record.version(),
                  record.claim().scheduledAt(),
                  record.claim().attempt(),
                  kit.now().toEpochMilli()));
        }
      }
      return records;
    }

    private void delay() {
      if (!delaying && faults && random.nextInt(8) == 0) {
        delaying = true;
        for (int i = random.nextInt(6); i > 0; i--) {
          kit.step(any().scheduler);
        }
        delaying = false;
      }
    }
  }
}
