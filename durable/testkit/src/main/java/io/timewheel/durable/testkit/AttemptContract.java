// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static io.timewheel.durable.model.TimerState.BLOCKED;
import static io.timewheel.durable.model.TimerState.CANCELLED;
import static io.timewheel.durable.model.TimerState.COMPLETED;
import static io.timewheel.durable.model.TimerState.FAILED;
import static io.timewheel.durable.model.TimerState.PAUSED;
import static io.timewheel.durable.model.TimerState.RETRYING;
import static io.timewheel.durable.model.TimerState.RUNNING;
import static io.timewheel.durable.model.TimerState.SCHEDULED;
import static io.timewheel.durable.spi.record.TimerRecord.NEVER;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Verifies claims, their completion, and cancelling, pausing and blocking. */
abstract class AttemptContract extends SchedulingContract {
  @Test
  void completesAnAttempt() {
    commit(schedule(key("a"), NOW));
    Change.Begin claim = begin(key("a"));
    Outcome begun = commit(claim);
    assertEquals(Answer.APPLIED, begun.answer());
    TimerRecord record = requireNonNull(begun.record());
    assertEquals(RUNNING, record.state());
    assertEquals(1, record.attempt());
    assertEquals(read(key("a")), record, "the record of a claim is complete");
    assertEquals(
        Answer.APPLIED, commit(finish(claim, Change.Finish.End.SUCCEEDED, NEVER)).answer());
    assertEquals(COMPLETED, read(key("a")).state());
    assertTrue(due(NEVER).isEmpty());
  }

  @Test
  void answersARepeatedClaimAndEndAsTheFirst() {
    commit(schedule(key("a"), NOW));
    Change.Begin claim = begin(key("a"));
    commit(claim);
    assertEquals(Answer.APPLIED, commit(claim).answer());
    Change.Finish end = finish(claim, Change.Finish.End.SUCCEEDED, NEVER);
    commit(end);
    TimerRecord before = read(key("a"));
    assertEquals(Answer.APPLIED, commit(end).answer());
    assertEquals(Answer.OUTDATED, commit(finish(claim, Change.Finish.End.FAILED, NOW)).answer());
    assertEquals(before, read(key("a")));
  }

  @Test
  void refusesAClaimOfAnOldReading() {
    commit(schedule(key("a"), NOW));
    Change.Begin old = begin(key("a"));
    commit(schedule(key("a"), NOW + 1));
    assertEquals(Answer.OUTDATED, commit(old).answer());
    assertEquals(SCHEDULED, read(key("a")).state());
  }

  @Test
  void retriesAndFailsTheTimer() {
    commit(schedule(key("a"), NOW));
    Change.Begin first = begin(key("a"));
    commit(first);
    commit(finish(first, Change.Finish.End.FAILED, NOW + 100));
    assertEquals(RETRYING, read(key("a")).state());
    assertEquals(NOW + 100, due(NEVER).get(0).fireAt());
    Change.Begin second = begin(key("a"));
    commit(second);
    commit(finish(second, Change.Finish.End.EXHAUSTED, NEVER));
    restart();
    TimerRecord record = read(key("a"));
    assertEquals(FAILED, record.state());
    assertEquals(2, record.attempts().size());
    assertEquals("no luck", record.attempts().get(1).error());
    assertTrue(due(NEVER).isEmpty());
    commit(new Change.Verb(key("a"), Change.Verb.Command.RETRY, 0, NOW));
    assertEquals(0, read(key("a")).attempt());
    assertEquals(1, due(NEVER).size());
  }

  @Test
  void continuesWithTheNextRun() {
    commit(
        schedule(key("a"), NOW, definition(false, "every PT1H"), Change.Condition.NONE, 0, null));
    Change.Begin claim = begin(key("a"));
    commit(claim);
    commit(finish(claim, Change.Finish.End.SUCCEEDED, NOW + 3_600_000));
    TimerRecord record = read(key("a"));
    assertEquals(SCHEDULED, record.state());
    assertEquals(NOW + 3_600_000, record.dueAt());
    assertEquals(claim.version(), record.version(), "firing never changes the version");
  }

  @Test
  void completesAScheduleThatHasEndedAndDoesNotBeginItAgain() {
    TimerDefinition twice = definition(false, "times 2 every PT1H");
    Change.Schedule request = schedule(key("a"), NOW, twice, Change.Condition.NONE, 0, null);
    commit(request);
    end(Change.Finish.End.SUCCEEDED, NOW + 3_600_000);
    commit(new Change.Verb(key("a"), Change.Verb.Command.RUN, 0, NOW));
    end(Change.Finish.End.SUCCEEDED, NOW + 3_600_000);
    restart();
    assertEquals(1, read(key("a")).runs(), "a run by hand does not count");
    commit(new Change.Move(key("a"), 0, NOW, NOW));
    end(Change.Finish.End.EXHAUSTED, NEVER);
    restart();
    assertEquals(COMPLETED, read(key("a")).state());
    assertEquals(2, read(key("a")).runs());
    assertEquals(Answer.UNCHANGED, commit(request).answer());
    assertEquals(
        Answer.EXISTS,
        commit(schedule(key("a"), NOW, twice, Change.Condition.ABSENT, 0, null)).answer());
    TimerDefinition other = definition(false, "times 3 every PT1H");
    assertEquals(
        Answer.CREATED,
        commit(schedule(key("a"), NOW, other, Change.Condition.ABSENT, 0, null)).answer());
    assertEquals(0, read(key("a")).runs());
  }

  private void end(Change.Finish.End end, long nextAt) {
    Change.Begin claim = begin(key("a"));
    assertEquals(Answer.APPLIED, commit(claim).answer());
    commit(finish(claim, end, nextAt));
  }

  @Test
  void keepsTheTraceOfTheLastFailure() {
    commit(schedule(key("a"), NOW));
    String trace = "java.io.IOException: ☃\n\tat com.acme.Orders.cancel(Orders.java:7)";
    Change.Begin claim = begin(key("a"));
    commit(claim);
    commit(finish(claim, Change.Finish.End.FAILED, NOW).withTrace(trace));
    restart();
    assertEquals(trace, read(key("a")).trace());
    commit(begin(key("a")));
    restart();
    Change.Begin takeOver = begin(key("a")); // the attempt before is lost, without an error
    commit(takeOver);
    assertEquals(trace, read(key("a")).trace());
    commit(finish(takeOver, Change.Finish.End.FAILED, NOW));
    assertEquals(null, read(key("a")).trace(), "the last failure has no trace");
  }

  @Test
  void aPostponedRunIsTheLastOneIfItsScheduleHasEnded() {
    TimerDefinition once = definition(false, "times 1 every PT1H");
    commit(schedule(key("a"), NOW, once, Change.Condition.NONE, 0, null));
    end(Change.Finish.End.RESCHEDULED, NOW + 5);
    TimerRecord postponed = read(key("a"));
    assertEquals(SCHEDULED, postponed.state());
    assertEquals(NOW + 5, postponed.fireAt());
    assertEquals(NOW + 5, postponed.dueAt(), "a query by due time finds it");
    assertEquals(1, postponed.runs());
  }

  @Test
  void aRecurringTimerFailsIfItsNextRunIsUnknown() {
    commit(
        schedule(key("a"), NOW, definition(false, "unreadable"), Change.Condition.NONE, 0, null));
    end(Change.Finish.End.EXHAUSTED, TimerRecord.NONE);
    assertEquals(FAILED, read(key("a")).state());
    assertEquals(0, read(key("a")).runs());
  }

  @Test
  void refusesAStaleOwner() {
    commit(schedule(key("a"), NOW));
    commit(schedule(key("b"), NOW));
    Change.Begin old = begin(key("a"));
    Change.Begin notBegun = begin(key("b"));
    commit(old);
    restart();
    assertTrue(epoch(key("a")) > old.epoch(), "the epoch grows with every owner");
    assertEquals(
        Answer.STALE_OWNER, commit(finish(old, Change.Finish.End.SUCCEEDED, NEVER)).answer());
    assertEquals(Answer.STALE_OWNER, commit(notBegun).answer());
    assertEquals(RUNNING, read(key("a")).state());
  }

  @Test
  void takesOverAnAttemptOfAnOlderEpoch() {
    commit(schedule(key("a"), NOW));
    commit(begin(key("a")));
    restart();
    assertEquals(RUNNING, due(NEVER).get(0).state(), "an open claim stays in the index");
    Outcome taken = commit(begin(key("a")));
    assertEquals(Answer.APPLIED, taken.answer());
    assertEquals(2, requireNonNull(taken.record()).attempt());
    assertEquals(
        Answer.OUTDATED, commit(begin(key("a"))).answer(), "one's own attempt is not taken over");
  }

  // Cancelling

  @Test
  void cancelsDefinitely() {
    commit(schedule(key("a"), NOW));
    assertEquals(Answer.CANCELLED, commit(new Change.Cancel(key("a"), 0, NOW)).answer());
    assertEquals(Answer.CANCELLED, commit(new Change.Cancel(key("a"), 0, NOW)).answer());
    assertTrue(due(NEVER).isEmpty());
    assertEquals(Answer.NOT_FOUND, commit(new Change.Cancel(key("b"), 0, NOW)).answer());
    assertEquals(Answer.VERSION_DIFFERS, commit(new Change.Cancel(key("a"), 99_999, NOW)).answer());
  }

  @Test
  void beginsNothingAfterACancelWhileFiring() {
    for (String id : List.of("fails", "succeeds", "dies")) {
      commit(schedule(key(id), NOW));
    }
    Change.Begin fails = begin(key("fails"));
    Change.Begin succeeds = begin(key("succeeds"));
    Change.Begin dies = begin(key("dies"));
    for (Change.Begin claim : List.of(fails, succeeds, dies)) {
      commit(claim);
      assertEquals(Answer.RUNNING, commit(new Change.Cancel(claim.key(), 0, NOW)).answer());
    }
    commit(finish(fails, Change.Finish.End.FAILED, NOW));
    commit(finish(succeeds, Change.Finish.End.SUCCEEDED, NEVER));
    assertEquals(CANCELLED, read(key("fails")).state());
    assertEquals(COMPLETED, read(key("succeeds")).state());
    assertEquals(Answer.COMPLETED, commit(new Change.Cancel(key("succeeds"), 0, NOW)).answer());
    restart();
    assertEquals(Answer.OUTDATED, commit(begin(key("dies"))).answer());
    assertEquals(CANCELLED, read(key("dies")).state());
    assertTrue(due(NEVER).isEmpty());
  }

  @Test
  void keepsTheTimeOfACatchUpRun() {
    for (Change.Finish.End end : List.of(Change.Finish.End.FAILED, Change.Finish.End.GIVEN_BACK)) {
      TimerKey key = key(end.name());
      commit(
          schedule(
              key, NOW - 9_000, definition(false, "every PT1S"), Change.Condition.NONE, 0, null));
      Change.Begin first = begin(key, NOW - 2_000);
      commit(first);
      commit(finish(first, end, NOW));
      restart();
      assertEquals(NOW - 2_000, read(key).scheduledAt());
      commit(begin(key));
      assertEquals(NOW - 2_000, requireNonNull(read(key).claim()).scheduledAt());
    }
  }

  @Test
  void ignoresTheEndOfAReplacedAttempt() {
    commit(schedule(key("a"), NOW));
    Change.Begin claim = begin(key("a"));
    commit(claim);
    commit(schedule(key("a"), NOW + 50));
    assertEquals(
        Answer.APPLIED, commit(finish(claim, Change.Finish.End.SUCCEEDED, NEVER)).answer());
    assertEquals(SCHEDULED, read(key("a")).state());
    assertEquals(NOW + 50, due(NEVER).get(0).fireAt());
  }

  // Pauses and blocked timers

  @Test
  void pausesATimer() {
    commit(schedule(key("a"), NOW + 5));
    commit(new Change.Verb(key("a"), Change.Verb.Command.PAUSE, 0, NOW));
    assertEquals(PAUSED, read(key("a")).state());
    assertTrue(due(NEVER).isEmpty());
    commit(new Change.Verb(key("a"), Change.Verb.Command.RESUME, 0, NOW + 10));
    assertEquals(NOW + 10, due(NEVER).get(0).fireAt());
  }

  @Test
  void flagsADueEntryWhoseRunWaitedForTheEndOfAPause() {
    TimerKey key = key("a");
    TimerDefinition hourly = definition(false, "every PT1H");
    commit(schedule(key, NOW - 9_000, hourly, Change.Condition.NONE, 0, null));
    assertFalse(due(NEVER).get(0).deferred(), "as it was scheduled");
    commit(new Change.Verb(key, Change.Verb.Command.PAUSE, 0, NOW));
    commit(new Change.Verb(key, Change.Verb.Command.RESUME, 0, NOW + 10));
    assertTrue(due(NEVER).get(0).deferred(), "after a pause");
    Change.Begin claim = begin(key);
    commit(claim);
    assertFalse(due(NEVER).get(0).deferred(), "a run that is claimed");
    commit(finish(claim, Change.Finish.End.SUCCEEDED, NOW - 5_000));
    assertFalse(due(NEVER).get(0).deferred(), "the run after it, though that is late");
  }

  @Test
  void keepsAPausedTimerOutOfTheDueIndexWhenItIsScheduledAgain() {
    commit(schedule(key("a"), NOW + 5));
    commit(new Change.Verb(key("a"), Change.Verb.Command.PAUSE, 0, NOW));
    assertEquals(NEVER, read(key("a")).fireAt());
    Change again =
        schedule(key("a"), NOW + 5, definition(false, ""), Change.Condition.NONE, 0, "again");
    assertEquals(Answer.UNCHANGED, commit(again).answer());
    assertEquals(NEVER, read(key("a")).fireAt());
    assertTrue(due(NEVER).isEmpty());
    assertEquals(1, store.page(query("", Set.of(PAUSED)), null, 10).records().size());
  }

  @Test
  void holdsDueTimersOfAPausedNamespace() {
    commit(schedule(key("a"), NOW));
    store.pause("shop");
    restart();
    assertEquals(Set.of("shop"), store.paused());
    assertEquals(Answer.HELD, commit(begin(key("a"))).answer());
    assertTrue(read(key("a")).isHeld());
    assertTrue(due(NEVER).isEmpty());
    store.resume("shop");
    commit(new Change.Verb(key("a"), Change.Verb.Command.RELEASE, 0, NOW));
    assertEquals(Answer.APPLIED, commit(begin(key("a"))).answer());
  }

  @Test
  void firesNoClaimAheadBeforeItsTime() {
    long dueAt = NOW + 100;
    commit(schedule(key("released"), dueAt));
    commit(begin(key("released")));
    restart();
    store.pause("shop");
    assertEquals(Answer.HELD, commit(begin(key("released"))).answer());
    store.resume("shop");
    commit(new Change.Verb(key("released"), Change.Verb.Command.RELEASE, 0, NOW));
    assertEquals(dueAt, read(key("released")).fireAt());

    commit(schedule(key("given back"), dueAt));
    Change.Begin claim = begin(key("given back"));
    commit(claim);
    commit(finish(claim, Change.Finish.End.GIVEN_BACK, NOW));
    assertEquals(dueAt, read(key("given back")).fireAt());
  }

  @Test
  void blocksAndRetries() {
    commit(schedule(key("a"), NOW));
    TimerRecord read = read(key("a"));
    commit(
        new Change.Park(
            key("a"), read.version(), read.revision(), epoch(key("a")), "unknown", NOW));
    assertEquals(BLOCKED, read(key("a")).state());
    assertEquals("unknown", read(key("a")).note());
    commit(new Change.Verb(key("a"), Change.Verb.Command.RETRY, 0, NOW));
    assertEquals(SCHEDULED, read(key("a")).state());
  }
}
