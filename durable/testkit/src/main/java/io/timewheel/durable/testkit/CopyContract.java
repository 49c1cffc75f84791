// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static io.timewheel.durable.model.TimerState.COMPLETED;
import static io.timewheel.durable.model.TimerState.READY;
import static io.timewheel.durable.model.TimerState.RUNNING;
import static io.timewheel.durable.model.TimerState.SCHEDULED;
import static io.timewheel.durable.spi.record.TimerRecord.NEVER;
import static io.timewheel.durable.spi.record.TimerRecord.NONE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.TimerSink;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Copies of all timers, from a store and into one. */
abstract class CopyContract extends LeaseContract {
  /** Collects the timers of a store. */
  private static final class Collected implements TimerSink {
    final Map<TimerKey, CopiedTimer> timers = new TreeMap<>();
    long lastVersion = -1;
    Set<String> paused = Set.of();
    boolean hasEnded;

    @Override
    public void begin(long version, Set<String> scopes) {
      assertEquals(-1, lastVersion, "begin comes once");
      lastVersion = version;
      paused = Set.copyOf(scopes);
    }

    @Override
    public void take(CopiedTimer timer) {
      assertTrue(lastVersion >= timer.record().version(), "begin comes first, with a bound");
      assertNull(timers.put(timer.record().key(), timer), "a timer comes once");
    }

    @Override
    public void end() {
      hasEnded = true;
    }

    List<CopiedTimer> list() {
      return List.copyOf(timers.values());
    }
  }

  private static Collected copyOf(TimerStore from) {
    Collected copy = new Collected();
    from.copyTo(copy);
    assertTrue(copy.hasEnded);
    return copy;
  }

  /** Makes a timer in each state, and pauses a namespace and a queue. */
  private void fillWithEveryState() {
    TimerKey held = new TimerKey("closed", "held");
    store.pause("closed");
    store.pause(Scopes.queue("shop", "mails"));
    commit(schedule(held, NOW));
    assertEquals(Answer.HELD, commit(begin(held)).answer());
    for (String id : List.of("scheduled", "paused", "blocked", "cancelled")) {
      commit(schedule(key(id), NOW + 7));
    }
    TimerDefinition ending = definition(false, "times 9 until 2999-01-01T00:00:00Z every PT1H");
    commit(schedule(key("recurring"), NOW, ending, Change.Condition.NONE, 0, "r"));
    Change.Begin first = begin(key("recurring"));
    commit(first);
    commit(finish(first, Change.Finish.End.SUCCEEDED, NOW + 7));
    assertEquals(1, read(key("recurring")).runs());
    commit(new Change.Verb(key("paused"), Change.Verb.Command.PAUSE, 0, NOW));
    TimerRecord blocked = read(key("blocked"));
    commit(
        new Change.Park(
            blocked.key(),
            blocked.version(),
            blocked.revision(),
            epoch(blocked.key()),
            "no handler",
            NOW));
    commit(new Change.Cancel(key("cancelled"), 0, NOW + 3));
    for (Change.Finish.End end :
        List.of(
            Change.Finish.End.SUCCEEDED, Change.Finish.End.FAILED, Change.Finish.End.EXHAUSTED)) {
      Change.Begin claim = began("end-" + end);
      commit(finish(claim, end, end == Change.Finish.End.FAILED ? NOW + 9 : NEVER));
    }
    began("running");
    makeReady("leased", NOW);
    assertEquals(1, lease(1).size());
    makeReady("ready", NOW + 1);
  }

  private Change.Begin began(String id) {
    commit(schedule(key(id), NOW));
    Change.Begin claim = begin(key(id));
    assertEquals(Answer.APPLIED, commit(claim).answer());
    return claim;
  }

  /**
   * Returns a session that owns no shards, because a store may refuse imports by a session that
   * owns some.
   */
  private TimerStore restartedWithoutOwner() {
    store.close();
    return reopen(store);
  }

  /** Makes the steps of this class use an in-memory store, and returns that store. */
  private TimerStore fillMemory(TimerStore target) {
    store = InMemoryTimerStore.create(target.traits());
    store.start(listener());
    fillWithEveryState();
    return store;
  }

  @Test
  void copiesTimersInEveryState() {
    fillWithEveryState();

    Collected copy = copyOf(store);

    Set<TimerState> states = EnumSet.noneOf(TimerState.class);
    copy.timers.forEach(
        (key, timer) -> {
          assertEquals(read(key), timer.record());
          states.add(timer.record().state());
        });
    assertEquals(EnumSet.allOf(TimerState.class), states);
    assertEquals(Set.of("closed", Scopes.queue("shop", "mails")), copy.paused);
    long counted = 0;
    for (Map<TimerState, Long> ofNamespace : store.counts().values()) {
      counted += ofNamespace.values().stream().mapToLong(Long::longValue).sum();
    }
    assertEquals(counted, copy.timers.size());
  }

  @Test
  void importsTimersWithTheirIndexesAndCounters() {
    TimerStore target = restartedWithoutOwner();
    TimerStore source = fillMemory(target);
    Collected copy = copyOf(source);

    target.beginImport(copy.lastVersion, copy.paused);
    assertEquals(copy.timers.size(), target.importTimers(copy.list()));

    for (int times = 0; times < 2; times++) {
      assertEquals(source.counts(), target.counts());
      assertEquals(source.queueCounts(null), target.queueCounts(null));
      assertEquals(source.paused(), target.paused());
      Set<TimerKey> queues = source.queueCounts(null).keySet();
      assertEquals(source.readySince(queues), target.readySince(queues));
      store = source;
      List<?> due = due(NEVER);
      store = target;
      assertEquals(due, due(NEVER));
      copy.timers.forEach(
          (key, timer) -> assertEquals(withoutPast(timer.record()), withoutPast(read(key))));
      // Again, as after a kill between two batches.
      target.beginImport(copy.lastVersion, copy.paused);
      assertEquals(0, target.importTimers(copy.list()));
    }
  }

  /** A store need not keep the payload of a finished timer. */
  private static TimerRecord withoutPast(TimerRecord record) {
    if (!record.state().isFinished()) {
      return record;
    }
    return record.copy().definition(record.definition().withPayload(new byte[0])).build();
  }

  @Test
  void importedTimersContinue() {
    TimerStore target = restartedWithoutOwner();
    Collected copy = copyOf(fillMemory(target));
    target.beginImport(copy.lastVersion + 100_000, copy.paused);
    target.importTimers(copy.list());
    target.endImport();

    store = target;
    store.start(listener());

    assertTrue(commit(schedule(key("new"), NOW)).version() > copy.lastVersion + 100_000);
    Change.Begin again = begin(key("running"));
    assertEquals(Answer.APPLIED, commit(again).answer());
    assertEquals(2, read(key("running")).attempt());
    assertEquals(
        Answer.APPLIED, commit(finish(again, Change.Finish.End.SUCCEEDED, NEVER)).answer());
    assertEquals(List.of(key("ready")), lease(9).stream().map(TimerRecord::key).toList());
    commit(new Change.Cancel(key("scheduled"), 0, NOW));
    assertEquals(0, store.purge(NOW - 1, 1_000, 100));
    assertTrue(store.purge(NEVER, 0, 100) > 0);
    assertNull(store.counts().getOrDefault("shop", Map.of()).get(COMPLETED));
  }

  /** A repeated request must not fire a finished timer again. */
  @Test
  void anImportedFinishedTimerIsRecognisedByItsPayload() {
    Change.Schedule same =
        new Change.Schedule(
            key("a"),
            definition(false, ""),
            NOW,
            false,
            Change.Condition.NONE,
            0,
            true,
            null,
            NEVER,
            NOW);
    commit(same);
    Change.Begin claim = begin(key("a"));
    commit(claim);
    commit(finish(claim, Change.Finish.End.SUCCEEDED, NEVER));
    assertEquals(Answer.UNCHANGED, commit(same).answer());
    Collected copy = copyOf(store);
    assertEquals(1, store.purge(NEVER, 0, 10));
    TimerStore target = restartedWithoutOwner();
    target.beginImport(copy.lastVersion, copy.paused);
    assertEquals(1, target.importTimers(copy.list()));
    target.endImport();

    store = target;
    store.start(listener());

    assertEquals(Answer.UNCHANGED, commit(same).answer());
    assertEquals(COMPLETED, read(key("a")).state());
  }

  @Test
  void anImportReplacesOlderTimersOnly() {
    TimerStore target = restartedWithoutOwner();
    store = InMemoryTimerStore.create(target.traits());
    store.start(listener());
    List<List<CopiedTimer>> steps = new ArrayList<>();
    commit(schedule(key("a"), NOW));
    steps.add(copyOf(store).list());
    Change.Begin claim = begin(key("a"));
    commit(claim);
    steps.add(copyOf(store).list());
    commit(finish(claim, Change.Finish.End.SUCCEEDED, NEVER));
    steps.add(copyOf(store).list());
    makeReady("a", NOW + 5);
    steps.add(copyOf(store).list());
    commit(schedule(key("a"), NOW + 8));
    steps.add(copyOf(store).list());

    List<TimerState> states = List.of(SCHEDULED, RUNNING, COMPLETED, READY, SCHEDULED);
    target.beginImport(0, Set.of());
    for (int i = 0; i < steps.size(); i++) {
      assertEquals(1, target.importTimers(steps.get(i)), "step " + i);
      assertEquals(Map.of("shop", Map.of(states.get(i), 1L)), target.counts());
      TimerKey queue = new TimerKey("shop", "orders");
      assertEquals(states.get(i) == READY, target.readySince(Set.of(queue)).containsKey(queue));
      for (int older = 0; older <= i; older++) {
        assertEquals(0, target.importTimers(steps.get(older)));
      }
    }
    store = target;
    assertEquals(NOW + 8, read(key("a")).dueAt());
    assertEquals(1, due(NEVER).size());
  }

  @Test
  void aBatchWithTwoVersionsOfATimerLeavesTheNewerOne() {
    TimerStore target = restartedWithoutOwner();
    store = InMemoryTimerStore.create(target.traits());
    store.start(listener());
    commit(schedule(key("a"), NOW));
    CopiedTimer older = copyOf(store).list().get(0);
    commit(schedule(key("a"), NOW + 1));
    CopiedTimer newer = copyOf(store).list().get(0);

    target.beginImport(0, Set.of());
    target.importTimers(List.of(newer, older));

    store = target;
    assertEquals(newer.record(), read(key("a")));
    assertEquals(Map.of("shop", Map.of(SCHEDULED, 1L)), target.counts());
    assertEquals(NONE, read(key("a")).runAt());
  }
}
