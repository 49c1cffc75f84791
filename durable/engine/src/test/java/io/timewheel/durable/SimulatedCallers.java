// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.DurableTestkit;
import io.timewheel.durable.testkit.History;
import io.timewheel.durable.testkit.History.Answer;
import io.timewheel.durable.testkit.History.Answered;
import io.timewheel.durable.testkit.History.Call;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/** Calls the nodes of a simulation, and adds each call and each answer to the history. */
final class SimulatedCallers {
  static final String QUEUE = "q";

  /** The timer whose calls always change a recurring timer. */
  private static final TimerKey RECURS = new TimerKey("sim", "t0");

  /** The timers whose runs consumers claim. */
  private static final List<TimerKey> QUEUED =
      List.of(new TimerKey("sim", "q0"), new TimerKey("other", "q1"));

  static final List<String> NAMESPACES = List.of("sim", "other");
  static final List<TimerKey> KEYS =
      List.of(
          RECURS,
          new TimerKey("sim", "t1"),
          new TimerKey("sim", "t2"),
          new TimerKey("sim", "t3"),
          new TimerKey("other", "t4"),
          QUEUED.get(0),
          QUEUED.get(1));

  /** A handler that not every node knows. */
  static final String RARE = "rare";

  private static final List<Call> VERBS = List.of(Call.PAUSE, Call.RESUME, Call.RUN, Call.RETRY);

  private final Random random;
  private final DurableTestkit kit;
  private final History history;
  private final Supplier<DurableTimer> any;
  private final Map<TimerKey, Long> latestVersions = new HashMap<>();
  private int calls;

  SimulatedCallers(Random random, DurableTestkit kit, History history, Supplier<DurableTimer> any) {
    this.random = random;
    this.kit = kit;
    this.history = history;
    this.any = any;
  }

  void call() {
    switch (random.nextInt(24)) {
      case 0, 1, 2, 3, 4, 5, 6 -> schedule(key());
      case 7 -> scheduleAll();
      case 8, 9 -> cancel(key());
      case 10 -> cancelAll();
      case 11, 12 -> {
        TimerKey key = key();
        move(key, perhapsVersion(key));
      }
      case 13 -> moveAll();
      case 14 -> verbAll(VERBS.get(random.nextInt(VERBS.size())));
      case 15, 16 -> verb(Call.PAUSE, key());
      case 17, 18 -> verb(Call.RESUME, key());
      case 19 -> verb(Call.RUN, key());
      case 20 -> verb(Call.RETRY, key());
      case 21 -> pauseScope(scope());
      default -> resumeScope(scope());
    }
  }

  private TimerKey key() {
    return KEYS.get(random.nextInt(KEYS.size()));
  }

  private List<TimerKey> keys() {
    List<TimerKey> keys = new ArrayList<>();
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      keys.add(key());
    }
    return keys;
  }

  private String scope() {
    return random.nextInt(3) == 0
        ? TimerStore.EVERYTHING
        : NAMESPACES.get(random.nextInt(NAMESPACES.size()));
  }

  private long nowMillis() {
    return kit.now().toEpochMilli();
  }

  // Schedule, cancel

  /** A call in the history, with its content. */
  private record Made<T>(int call, TimerKey key, T asked) {}

  private Made<TimerSpec> schedules(TimerKey key) {
    boolean recurs = key.equals(RECURS) || random.nextInt(4) == 0;
    long periodMillis = recurs ? 1_000 + random.nextInt(3_000) : 0;
    long dueAtMillis = nowMillis() + random.nextInt(8_000);
    // No more IDs than a timer retains.
    String requestId = random.nextInt(3) == 0 ? "r" + random.nextInt(8) : null;
    TimerSpec spec =
        TimerSpec.of(key.namespace(), key.id())
            .at(Instant.ofEpochMilli(dueAtMillis))
            // A run whose attempts were all lost would look like an omitted run.
            .retry(
                new RetryPolicy(
                    recurs || random.nextInt(3) > 0 ? 50 : 2,
                    Duration.ofMillis(100),
                    Duration.ofSeconds(1)));
    if (QUEUED.contains(key)) {
      spec.queue(QUEUE);
    } else {
      spec.handler(random.nextInt(8) == 0 ? RARE : "h");
    }
    if (recurs) {
      spec.every(Duration.ofMillis(periodMillis));
    }
    if (requestId != null) {
      spec.requestId(requestId);
    }
    long version = random.nextInt(16) == 0 ? History.Invoked.ABSENT : perhapsVersion(key);
    if (version == History.Invoked.ABSENT) {
      spec.onlyIfAbsent();
    } else if (version > 0) {
      spec.onlyIfVersion(version);
    }
    if (version != 0 && random.nextBoolean()) {
      spec.evenIfFinished();
    }
    int call = ++calls;
    history.add(
        new History.Invoked(
            call, key, Call.SCHEDULE, dueAtMillis, periodMillis, requestId, version));
    return new Made<>(call, key, spec);
  }

  /** Returns a version that the timer has had, and may still have; 0 for any. */
  private long perhapsVersion(TimerKey key) {
    return random.nextInt(12) == 0 ? latestVersions.getOrDefault(key, 0L) : 0;
  }

  private Made<TimerKey> asks(Call kind, TimerKey key, long dueAtMillis) {
    return asks(kind, key, dueAtMillis, 0);
  }

  private Made<TimerKey> asks(Call kind, TimerKey key, long dueAtMillis, long version) {
    int call = ++calls;
    history.add(new History.Invoked(call, key, kind, dueAtMillis, 0, null, version));
    return new Made<>(call, key, key);
  }

  private void schedule(TimerKey key) {
    Made<TimerSpec> made = schedules(key);
    note(made, any.get().async().schedule(made.asked), this::scheduled);
  }

  private void scheduleAll() {
    List<Made<TimerSpec>> made = keys().stream().map(this::schedules).toList();
    noteAll(
        made,
        any.get().async().scheduleAll(made.stream().map(Made::asked).toList()),
        this::scheduled);
  }

  private Answered scheduled(Made<?> made, ScheduleResult result) {
    latestVersions.put(made.key, result.version());
    return new Answered(
        made.call, made.key, Answer.valueOf(result.outcome().name()), result.version());
  }

  private void cancel(TimerKey key) {
    long version = perhapsVersion(key);
    Made<TimerKey> made = asks(Call.CANCEL, key, 0, version);
    note(made, any.get().async().timer(key).ifVersion(version).cancel(), this::cancelled);
  }

  private void cancelAll() {
    List<Made<TimerKey>> made = keys().stream().map(key -> asks(Call.CANCEL, key, 0)).toList();
    noteAll(
        made,
        any.get().async().timers(made.stream().map(Made::key).toList()).cancel(),
        this::cancelled);
  }

  private Answered cancelled(Made<?> made, CancelResult result) {
    return new Answered(
        made.call, made.key, Answer.valueOf(result.outcome().name()), result.version());
  }

  // Move, pause, resume, run, retry

  private void move(TimerKey key, long version) {
    long dueAtMillis = nowMillis() + random.nextInt(8_000);
    Made<TimerKey> made = asks(Call.MOVE, key, dueAtMillis, version);
    note(
        made,
        any.get().async().timer(key).ifVersion(version).move(Instant.ofEpochMilli(dueAtMillis)),
        this::done);
  }

  private void moveAll() {
    long dueAtMillis = nowMillis() + random.nextInt(8_000);
    List<Made<TimerKey>> made =
        keys().stream().map(key -> asks(Call.MOVE, key, dueAtMillis)).toList();
    noteAll(
        made,
        any.get()
            .async()
            .timers(made.stream().map(Made::key).toList())
            .move(Instant.ofEpochMilli(dueAtMillis)),
        this::done);
  }

  private void verb(Call kind, TimerKey key) {
    verb(kind, key, perhapsVersion(key));
  }

  private void verb(Call kind, TimerKey key, long version) {
    Made<TimerKey> made = asks(kind, key, nowMillis(), version);
    note(made, command(kind, any.get().async().timer(key).ifVersion(version)), this::done);
  }

  private void verbAll(Call kind) {
    List<Made<TimerKey>> made = keys().stream().map(key -> asks(kind, key, nowMillis())).toList();
    noteAll(
        made,
        command(kind, any.get().async().timers(made.stream().map(Made::key).toList())),
        this::done);
  }

  private static <V> V command(Call kind, TimerCommands<?, V> timers) {
    return switch (kind) {
      case PAUSE -> timers.pause();
      case RESUME -> timers.resume();
      case RUN -> timers.runNow();
      case RETRY -> timers.retry();
      default -> throw new AssertionError(kind);
    };
  }

  private Answered done(Made<?> made, VerbResult result) {
    Answer answer =
        switch (result) {
          case DONE -> Answer.DONE;
          case UNCHANGED -> Answer.UNCHANGED;
          case NOT_FOUND -> Answer.NOT_FOUND;
          case WRONG_STATE, VERSION_DIFFERS -> Answer.REFUSED;
        };
    return new Answered(made.call, made.key, answer, 0);
  }

  // Pauses of namespaces and of everything

  private void pauseScope(String scope) {
    int call = ++calls;
    boolean all = scope.equals(TimerStore.EVERYTHING);
    DurableTimer scheduler = any.get();
    history.add(new History.ScopeInvoked(call, scope, true));
    (all ? scheduler.allNamespaces() : scheduler.namespace(scope)).pause();
    history.add(new History.ScopeAnswered(call, scope, true));
  }

  private void resumeScope(String scope) {
    int call = ++calls;
    boolean all = scope.equals(TimerStore.EVERYTHING);
    history.add(new History.ScopeInvoked(call, scope, false));
    (all ? any.get().allNamespaces() : any.get().namespace(scope)).resume();
    history.add(new History.ScopeAnswered(call, scope, false));
  }

  /** Ends all pauses and retries failed timers. Blocked timers continue by themselves. */
  void endWell() {
    kit.settle();
    NAMESPACES.forEach(this::resumeScope);
    resumeScope(TimerStore.EVERYTHING);
    kit.settle();
    KEYS.forEach(key -> verb(Call.RESUME, key, 0));
    kit.settle();
    KEYS.stream().filter(this::isFailed).forEach(key -> verb(Call.RETRY, key, 0));
    verb(Call.RUN, RECURS, 0);
    move(KEYS.get(1), 0);
    kit.settle();
  }

  private boolean isFailed(TimerKey key) {
    return any.get()
        .timer(key.namespace(), key.id())
        .get()
        .filter(info -> info.state() == TimerState.FAILED)
        .isPresent();
  }

  // Answers

  private <A, T> void note(
      Made<A> made, CompletionStage<T> stage, BiFunction<Made<A>, T, Answered> answer) {
    stage.whenComplete(
        (result, error) ->
            history.add(result == null ? failed(made, error) : answer.apply(made, result)));
  }

  private <A, T> void noteAll(
      List<Made<A>> made,
      CompletionStage<List<BatchResult<T>>> stage,
      BiFunction<Made<A>, T, Answered> answer) {
    stage.whenComplete(
        (results, error) -> {
          for (int i = 0; i < made.size(); i++) {
            BatchResult<T> one = results == null ? null : results.get(i);
            history.add(
                one == null || one.result() == null
                    ? failed(made.get(i), one == null ? error : one.error())
                    : answer.apply(made.get(i), one.result()));
          }
        });
  }

  private static Answered failed(Made<?> made, Throwable error) {
    // Only the wrapper of the future is removed: an unknown answer has a known cause.
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    boolean refused =
        cause instanceof DurableTimerException e
            && e.reason() != DurableTimerException.Reason.UNKNOWN;
    return new Answered(made.call, made.key, refused ? Answer.REFUSED : Answer.UNKNOWN, 0);
  }
}
