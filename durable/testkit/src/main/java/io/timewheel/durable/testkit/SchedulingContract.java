// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static io.timewheel.durable.model.TimerState.COMPLETED;
import static io.timewheel.durable.spi.record.TimerRecord.NEVER;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Verifies scheduling and the due index. */
abstract class SchedulingContract extends RequestContract {
  @Test
  void acceptsCallsBeforeItIsStarted() {
    store.close();
    store = reopen(store);
    assertEquals(
        List.of(Answer.CREATED),
        store.commit(List.of(schedule(key("early"), NOW))).stream().map(Outcome::answer).toList());
    assertNotNull(store.get(key("early")));
    store.start(listener());
    int shard = Shards.of(key("early"), store.traits().shards());
    assertEquals(1, store.due(shard, NOW + 1, null, 10).size());
  }

  @Test
  void keepsACompleteRecord() {
    TimerDefinition definition = definition(true, "every PT1H");
    commit(schedule(key("ä/:☃"), NOW + 5, definition, Change.Condition.NONE, 0, "r-1"));
    TimerRecord before = read(key("ä/:☃"));
    restart();
    assertEquals(before, read(key("ä/:☃")));
    assertEquals(definition, before.definition());
    assertEquals(NOW + 5, before.fireAt());
  }

  @Test
  void completesATimerWithoutARunAtOnce() {
    TimerDefinition over = definition(false, "until 2001-01-01T00:00:00Z every PT1H");
    Change.Schedule request = schedule(key("a"), NEVER, over, Change.Condition.NONE, 0, null);
    assertEquals(Answer.CREATED, commit(request).answer());
    commit(schedule(key("b"), NOW));
    assertEquals(
        Answer.REPLACED,
        commit(schedule(key("b"), NEVER, over, Change.Condition.NONE, 0, null)).answer());
    restart();
    for (String id : List.of("a", "b")) {
      assertEquals(COMPLETED, read(key(id)).state());
      assertEquals(NOW, read(key(id)).dueAt());
      assertEquals(NEVER, read(key(id)).fireAt());
    }
    assertTrue(due(NEVER).isEmpty());
    assertEquals(Map.of("shop", Map.of(COMPLETED, 2L)), store.counts());
    assertEquals(Answer.UNCHANGED, commit(request).answer());
    assertEquals(2, store.purge(NEVER, 0, 10));
  }

  @Test
  void answersThatATimerWasReplaced() {
    Outcome first = commit(schedule(key("a"), NOW + 5));
    Outcome second = commit(schedule(key("a"), NOW + 9));
    assertEquals(Answer.CREATED, first.answer());
    assertEquals(Answer.REPLACED, second.answer());
    assertTrue(second.version() > first.version());
    assertEquals(List.of(NOW + 9), due(NEVER).stream().map(DueTimer::fireAt).toList());
  }

  @Test
  void leavesAnIdenticalTimerUnchanged() {
    Outcome first = commit(schedule(key("a"), NOW + 5));
    Outcome second = commit(schedule(key("a"), NOW + 5));
    assertEquals(Answer.UNCHANGED, second.answer());
    assertEquals(first.version(), second.version());
    assertEquals(0, read(key("a")).revision());
  }

  @Test
  void appliesConditions() {
    Outcome first = commit(schedule(key("a"), NOW + 5));
    TimerDefinition other = definition(false, "every PT1H");
    assertEquals(
        Answer.EXISTS,
        commit(schedule(key("a"), NOW + 5, other, Change.Condition.ABSENT, 0, null)).answer());
    assertEquals(
        Answer.VERSION_DIFFERS,
        commit(schedule(key("a"), NOW, other, Change.Condition.VERSION, first.version() + 1, null))
            .answer());
    assertEquals(
        Answer.REPLACED,
        commit(schedule(key("a"), NOW, other, Change.Condition.VERSION, first.version(), null))
            .answer());
    assertEquals(
        Answer.VERSION_DIFFERS,
        commit(schedule(key("b"), NOW, other, Change.Condition.VERSION, 7, null)).answer());
    assertNull(store.get(key("b")));
  }

  @Test
  void refusesAVersionThatHasFinished() {
    TimerDefinition other = definition(false, "every PT1H");
    long fired = commit(schedule(key("a"), NOW)).version();
    Change.Begin claim = begin(key("a"));
    commit(claim);
    commit(finish(claim, Change.Finish.End.SUCCEEDED, NEVER));
    assertEquals(
        Answer.COMPLETED,
        commit(schedule(key("a"), NOW, other, Change.Condition.VERSION, fired, null)).answer());
    assertEquals(COMPLETED, read(key("a")).state());
    long cancelled = commit(schedule(key("b"), NOW)).version();
    commit(new Change.Cancel(key("b"), 0, NOW));
    assertEquals(
        Answer.CANCELLED,
        commit(schedule(key("b"), NOW, other, Change.Condition.VERSION, cancelled, null)).answer());
    assertEquals(cancelled, read(key("b")).version());
  }

  @Test
  void answersARepeatedRequestAsTheFirst() {
    Change.Schedule request =
        schedule(key("a"), NOW, definition(false, ""), Change.Condition.ABSENT, 0, "r-1");
    Outcome first = commit(request);
    Change.Begin claim = begin(key("a"));
    commit(claim);
    commit(finish(claim, Change.Finish.End.SUCCEEDED, NEVER));
    restart();
    Outcome again = commit(request);
    assertEquals(first.answer(), again.answer());
    assertEquals(first.version(), again.version());
    assertEquals(COMPLETED, read(key("a")).state());
  }

  @Test
  void answersARepeatedRequestThatChangedNothingAsTheFirst() {
    commit(schedule(key("a"), NOW));
    Change.Schedule request =
        schedule(key("a"), NOW, definition(false, ""), Change.Condition.NONE, 0, "r-1");
    Outcome first = commit(request);
    assertEquals(Outcome.Answer.UNCHANGED, first.answer());
    assertEquals(1, store.due(shard(key("a")), NOW + 1, null, 10).size());
    Change.Begin claim = begin(key("a"));
    commit(claim);
    commit(finish(claim, Change.Finish.End.SUCCEEDED, NEVER));
    restart();
    Outcome again = commit(request);
    assertEquals(Outcome.Answer.UNCHANGED, again.answer());
    assertEquals(first.version(), again.version());
    assertEquals(COMPLETED, read(key("a")).state());
  }

  @Test
  void refusesOverTheLimitOfANamespace() {
    commit(schedule(key("a"), NOW + 5));
    Change.Schedule second =
        new Change.Schedule(
            key("b"),
            definition(false, ""),
            NOW,
            false,
            Change.Condition.NONE,
            0,
            false,
            null,
            1,
            NOW);
    assertEquals(Answer.OVER_LIMIT, commit(second).answer());
    assertNull(store.get(key("b")));
    commit(new Change.Cancel(key("a"), 0, NOW));
    assertEquals(Answer.CREATED, commit(second).answer());
  }

  @Test
  void appliesTheChangesOfABatchInOrder() {
    List<Outcome> outcomes =
        store.commit(
            List.of(
                schedule(key("a"), NOW + 5),
                new Change.Cancel(key("a"), 0, NOW),
                schedule(key("b"), NOW + 5),
                schedule(key("a"), NOW + 7),
                new Change.Cancel(key("c"), 0, NOW)));
    assertEquals(
        List.of(Answer.CREATED, Answer.CANCELLED, Answer.CREATED, Answer.CREATED, Answer.NOT_FOUND),
        outcomes.stream().map(Outcome::answer).toList());
  }

  // The due index

  @Test
  void ordersTheDueIndexByTimeAndKey() {
    commit(schedule(key("c"), NOW + 1));
    commit(schedule(key("b"), NOW + 2));
    commit(schedule(key("a"), NOW + 2));
    commit(schedule(key("d"), NOW + 3));
    for (int shard = 0; shard < store.traits().shards(); shard++) {
      List<DuePosition> found =
          store.due(shard, NEVER, null, 100).stream().map(DueTimer::position).toList();
      assertEquals(found.stream().sorted().toList(), found);
    }
    assertEquals(3, due(NOW + 3).size(), "the end is not part of the span");
  }

  @Test
  void continuesAfterAPosition() {
    for (int i = 0; i < 50; i++) {
      commit(schedule(key("id-" + i), NOW + i % 3));
    }
    for (int shard = 0; shard < store.traits().shards(); shard++) {
      List<DueTimer> paged = new ArrayList<>();
      DuePosition after = null;
      for (List<DueTimer> page = store.due(shard, NEVER, null, 7);
          !page.isEmpty();
          page = store.due(shard, NEVER, after, 7)) {
        paged.addAll(page);
        after = page.get(page.size() - 1).position();
      }
      assertEquals(store.due(shard, NEVER, null, 1_000), paged);
    }
  }

  @Test
  void firesATimerWithAPastTimeAtOnce() {
    commit(schedule(key("a"), NOW - 1_000_000));
    assertEquals(NOW, due(NEVER).get(0).fireAt());
    assertEquals(NOW - 1_000_000, read(key("a")).dueAt());
  }
}
