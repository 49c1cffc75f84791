// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.Facts;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.RequestAnswer;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.durable.spi.record.Transitions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Predicate;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;

/**
 * Compares batches that a {@link Decision} decides with a model that applies one change at a time
 * and counts all records again. Some cells are first decided on a wrong record and reverted, as a
 * store does if its assumption was wrong.
 */
class DecisionFuzzTest {
  private static final long NOW = 1_000_000;

  /** The stored data; both sides have their own. */
  private static class Data implements Facts {
    final Map<TimerKey, TimerRecord> records = new TreeMap<>();
    final Map<String, RequestAnswer> answers = new HashMap<>();
    boolean paused;
    long epoch = 1;

    @Override
    public long nextVersion(long above) {
      return above + 1;
    }

    @Override
    public long pending(String namespace) {
      return records.values().stream().filter(record -> !record.state().isFinished()).count();
    }

    @Override
    public boolean paused(String namespace) {
      return paused;
    }

    @Override
    public @Nullable RequestAnswer answer(TimerKey key, String id) {
      return answers.get(key + " " + id);
    }

    @Override
    public boolean isStale(Change change) {
      return change.epoch() != epoch;
    }

    void put(RequestAnswer answer) {
      answers.put(answer.key() + " " + answer.request().id(), answer);
    }

    Map<String, Map<TimerState, Long>> counts() {
      Map<String, Map<TimerState, Long>> counts = new HashMap<>();
      for (TimerRecord record : records.values()) {
        for (String scope : Scopes.counting(record)) {
          counts
              .computeIfAbsent(scope, same -> new HashMap<>())
              .merge(record.state(), 1L, Long::sum);
        }
      }
      return counts;
    }
  }

  private final Data model = new Data();
  private final Data store = new Data();
  private final StateCounts counts = new StateCounts();
  private Random random = new Random(0);
  private long now = NOW;
  private long tokens;

  @Property(tries = 400)
  void decidesBatchesAsOneChangeAtATime(@ForAll long seed) {
    random = new Random(seed);
    for (int batch = 0; batch < 60; batch++) {
      now += random.nextInt(2_000);
      store.paused = model.paused = random.nextInt(5) == 0;
      if (random.nextInt(8) == 0) {
        lease();
      } else {
        commit();
      }
      assertThat(store.records).isEqualTo(model.records);
      assertThat(store.answers).isEqualTo(model.answers);
      Map<String, Map<TimerState, Long>> counted = new HashMap<>();
      counts.scopes().forEach(scope -> counted.put(scope, counts.of(scope)));
      assertThat(counted).isEqualTo(model.counts());
    }
  }

  private void commit() {
    List<Change> changes = new ArrayList<>();
    for (int i = random.nextInt(6); i >= 0; i--) {
      changes.add(change());
    }
    assertThat(decided(changes)).isEqualTo(changes.stream().map(this::applied).toList());
  }

  private Outcome applied(Change change) {
    if (change.epoch() != 0 && model.isStale(change)) {
      return new Outcome(Outcome.Answer.STALE_OWNER, 0, null);
    }
    TimerRecord current = model.records.get(change.key());
    Outcome outcome = Transitions.apply(current, change, model);
    RequestAnswer answer = RequestAnswer.of(change, outcome, model);
    if (outcome.record() != null) {
      model.records.put(change.key(), outcome.record());
    }
    if (answer != null) {
      model.put(answer);
    }
    return outcome;
  }

  private List<Outcome> decided(List<Change> changes) {
    Decision decision = new Decision(store);
    Map<TimerKey, Cell> cells = new HashMap<>();
    changes.forEach(change -> cells.computeIfAbsent(change.key(), Cell::new));
    for (Cell cell : cells.values()) {
      if (random.nextInt(3) == 0) {
        decideOnAWrongRecord(decision, cell, changes);
      }
      cell.found(store.records.get(cell.key()));
    }
    List<Outcome> outcomes = new ArrayList<>();
    for (Change change : changes) {
      outcomes.add(decision.decide(cells.get(change.key()), change));
      if (random.nextInt(4) == 0) {
        counts.add(decision.counts());
        decision.countsWritten();
      }
    }
    apply(decision, cells.values());
    return outcomes;
  }

  private void decideOnAWrongRecord(Decision decision, Cell cell, List<Change> changes) {
    cell.found(null);
    for (Change change : changes) {
      if (change.key().equals(cell.key())) {
        decision.decide(cell, change);
      }
    }
    if (random.nextBoolean()) {
      counts.add(decision.counts());
      decision.countsWritten();
    }
    decision.revert(cell);
  }

  private void apply(Decision decision, Iterable<? extends Cell> cells) {
    for (Cell cell : cells) {
      if (cell.isChanged()) {
        store.records.put(cell.key(), cell.after());
      }
    }
    counts.add(decision.counts());
    decision.answers().forEach(store::put);
  }

  // Claims

  private void lease() {
    int limit = random.nextInt(4);
    List<LeaseRequest> requests =
        List.of(
            new LeaseRequest("ns", "q0", 1 + random.nextInt(3), now + 500),
            new LeaseRequest("ns", "q1", 1 + random.nextInt(3), now + 500));
    Map<String, Integer> claimed = new HashMap<>();
    Decision decision = new Decision(store);
    long first = tokens;
    List<Cell> cells =
        decision.lease(requests, limit, ready(claimed), () -> new ClaimToken(1, tokens++), now);
    apply(decision, cells);
    int left = limit;
    for (LeaseRequest request : requests) {
      List<TimerRecord> ready = readyOf(model, request);
      int wanted = Math.min(left, Math.min(ready.size(), request.max()));
      left -= wanted;
      assertThat(claimed.getOrDefault(request.queue(), 0)).isEqualTo(wanted);
      for (TimerRecord record : ready.subList(0, wanted)) {
        ClaimToken token = new ClaimToken(1, first++);
        model.records.put(
            record.key(), Transitions.lease(record, token, request.untilMillis(), now));
      }
    }
  }

  private static List<TimerRecord> readyOf(Data data, LeaseRequest request) {
    return data.records.values().stream()
        .filter(record -> record.state() == TimerState.READY)
        .filter(record -> record.definition().handler().equals(request.queue()))
        .toList();
  }

  private Decision.ReadyTimers<Cell> ready(Map<String, Integer> claimed) {
    return new Decision.ReadyTimers<>() {
      @Override
      public int admitted(LeaseRequest request) {
        return request.max();
      }

      @Override
      public void visit(LeaseRequest request, Predicate<Cell> visitor) {
        for (TimerRecord record : readyOf(store, request)) {
          Cell cell = new Cell(record.key());
          cell.found(record);
          if (!visitor.test(cell)) {
            return;
          }
        }
      }

      @Override
      public void claimed(LeaseRequest request, int number) {
        claimed.merge(request.queue(), number, Integer::sum);
      }
    };
  }

  // Random changes

  private Change change() {
    TimerKey key = new TimerKey("ns", "t" + random.nextInt(4));
    TimerRecord record = model.records.get(key);
    long version = record == null ? 0 : record.version();
    long revision = record == null ? 0 : record.revision() + (random.nextInt(6) == 0 ? 1 : 0);
    long epoch = random.nextInt(6) == 0 ? 2 : 1;
    RequestId request =
        random.nextInt(3) != 0
            ? null
            : new RequestId("r" + random.nextInt(3), "d" + random.nextInt(2));
    long expected = random.nextInt(3) == 0 ? version : 0;
    return switch (random.nextInt(11)) {
      case 0, 1, 2 -> schedule(key, expected, request);
      case 3 -> new Change.Cancel(key, expected, request, now);
      case 4 -> new Change.Move(key, expected, now + random.nextInt(900), request, now);
      case 5 -> new Change.Verb(key, pick(Change.Verb.Command.values()), expected, request, now);
      case 6 ->
          new Change.Begin(
              key, version, revision, epoch, new ClaimToken(1, tokens++), TimerRecord.NONE, now);
      case 7 -> new Change.MakeReady(key, version, revision, epoch, TimerRecord.NONE, now);
      case 8 -> new Change.Keep(key, new RequestId("kept", "d"), random.nextInt(3), now);
      default -> end(key, record, epoch, request);
    };
  }

  private Change schedule(TimerKey key, long expected, @Nullable RequestId request) {
    boolean queue = random.nextBoolean();
    TimerDefinition definition =
        new TimerDefinition(
            random.nextInt(3) == 0 ? "every PT1S" : "",
            (queue ? "q" : "h") + random.nextInt(2),
            queue,
            new byte[random.nextInt(2)],
            Map.of(),
            RetryPolicy.DEFAULT,
            MissedRuns.FIRE_ONCE,
            1_000);
    Change.Condition condition =
        expected != 0
            ? Change.Condition.VERSION
            : random.nextBoolean() ? Change.Condition.NONE : Change.Condition.ABSENT;
    return new Change.Schedule(
        key,
        definition,
        now + random.nextInt(900),
        random.nextBoolean(),
        condition,
        expected,
        random.nextBoolean(),
        request,
        random.nextInt(3) == 0 ? 2 : TimerRecord.NEVER,
        now);
  }

  private Change end(
      TimerKey key, @Nullable TimerRecord record, long epoch, @Nullable RequestId request) {
    Claim claim = record == null ? null : record.claim();
    ClaimToken token = claim == null ? new ClaimToken(0, 0) : claim.token();
    return random.nextInt(5) == 0
        ? new Change.Extend(key, token, now + 900, request, now)
        : new Change.Finish(
                key,
                token,
                random.nextBoolean() ? 0 : epoch,
                pick(Change.Finish.End.values()),
                random.nextBoolean() ? TimerRecord.NEVER : now + 100,
                random.nextBoolean() ? "failed" : null,
                now)
            .with(request);
  }

  private <T> T pick(T[] values) {
    return values[random.nextInt(values.length)];
  }
}
