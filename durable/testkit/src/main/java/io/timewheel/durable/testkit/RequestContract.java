// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static io.timewheel.durable.model.TimerState.CANCELLED;
import static io.timewheel.durable.model.TimerState.PAUSED;
import static io.timewheel.durable.model.TimerState.SCHEDULED;
import static io.timewheel.durable.spi.record.TimerRecord.NONE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Verifies that answers to requests are stored with the change and repeated. */
@Tag("promise-42")
abstract class RequestContract extends StoreSteps {
  private static final RequestId REQUEST = new RequestId("r-1", "content");

  private static Change.Verb verb(TimerKey key, Change.Verb.Command command, RequestId request) {
    return new Change.Verb(key, command, 0, request, NOW);
  }

  private void assertRepeats(Outcome first, Change change) {
    TimerRecord before = store.get(change.key());
    Outcome again = commit(change);
    assertEquals(first.answer(), again.answer());
    assertEquals(first.version(), again.version());
    assertTrue(again.repeated());
    assertEquals(before, store.get(change.key()));
  }

  @Test
  void answersARepeatedRequestAfterManyOthers() {
    Change.Schedule request =
        schedule(key("a"), NOW, definition(false, ""), Change.Condition.ABSENT, 0, "r-first");
    Outcome first = commit(request);
    assertFalse(first.repeated());
    for (int i = 0; i < 40; i++) {
      Change.Condition always = Change.Condition.NONE;
      commit(schedule(key("a"), NOW + i, definition(false, ""), always, 0, "r-" + i));
    }
    restart();
    assertRepeats(first, request);
  }

  @Test
  void appliesARepeatedCommandOnce() {
    commit(schedule(key("a"), NOW + 1_000));
    Change.Verb run = verb(key("a"), Change.Verb.Command.RUN, REQUEST);
    Outcome first = commit(run);
    assertEquals(Answer.APPLIED, first.answer());
    assertRepeats(first, run);
    Change.Begin claim = begin(key("a"));
    commit(claim);
    restart();
    assertRepeats(first, run);
  }

  @Test
  void appliesARepeatedMoveOnce() {
    commit(schedule(key("a"), NOW + 1_000));
    Change.Move move = new Change.Move(key("a"), 0, NOW + 5_000, REQUEST, NOW);
    Outcome first = commit(move);
    commit(new Change.Move(key("a"), 0, NOW + 7_000, NOW));
    restart();
    assertRepeats(first, move);
    assertEquals(NOW + 7_000, read(key("a")).dueAt());
  }

  @Test
  void aRepeatedCancelCancelsNoLaterTimer() {
    commit(schedule(key("a"), NOW + 1_000));
    Change.Cancel cancel = new Change.Cancel(key("a"), 0, REQUEST, NOW);
    Outcome first = commit(cancel);
    assertEquals(CANCELLED, read(key("a")).state());
    commit(schedule(key("a"), NOW + 2_000));
    restart();
    assertRepeats(first, cancel);
    assertEquals(SCHEDULED, read(key("a")).state());
  }

  @Test
  void refusesARequestWithTheSameIdAndDifferentContent() {
    commit(schedule(key("a"), NOW + 1_000));
    commit(verb(key("a"), Change.Verb.Command.PAUSE, REQUEST));
    RequestId other = new RequestId(REQUEST.id(), "other content");
    assertEquals(
        Answer.REQUEST_DIFFERS, commit(verb(key("a"), Change.Verb.Command.RESUME, other)).answer());
    assertEquals(PAUSED, read(key("a")).state());
    commit(schedule(key("b"), NOW + 1_000));
    assertEquals( // of another timer
        Answer.APPLIED, commit(verb(key("b"), Change.Verb.Command.PAUSE, other)).answer());
  }

  @Test
  void keepsTheAnswerThatNothingChanged() {
    Change.Cancel cancel = new Change.Cancel(key("a"), 0, REQUEST, NOW);
    assertEquals(Answer.NOT_FOUND, commit(cancel).answer());
    commit(schedule(key("a"), NOW + 1_000));
    Change.Verb retry = verb(key("a"), Change.Verb.Command.RETRY, new RequestId("r-2", ""));
    assertEquals(Answer.WRONG_STATE, commit(retry).answer());
    restart();
    assertEquals(Answer.NOT_FOUND, commit(cancel).answer());
    assertEquals(Answer.WRONG_STATE, commit(retry).answer());
    assertEquals(SCHEDULED, read(key("a")).state());
  }

  @Test
  void keepsNoAnswerToAConditionThatWasNotMet() {
    long version = commit(schedule(key("a"), NOW + 1_000)).version();
    assertEquals(
        Answer.VERSION_DIFFERS,
        commit(new Change.Cancel(key("a"), version + 9, REQUEST, NOW)).answer());
    assertEquals(
        Answer.CANCELLED, commit(new Change.Cancel(key("a"), version, REQUEST, NOW)).answer());
  }

  @Test
  void answersARepetitionInTheSameBatch() {
    Change.Schedule request =
        schedule(key("a"), NOW, definition(false, ""), Change.Condition.ABSENT, 0, "r-1");
    commit(schedule(key("b"), NOW + 1_000));
    Change.Verb run = verb(key("b"), Change.Verb.Command.PAUSE, REQUEST);
    List<Outcome> outcomes = store.commit(List.of(request, run, request, run));
    assertEquals(Answer.CREATED, outcomes.get(0).answer());
    assertEquals(Answer.APPLIED, outcomes.get(1).answer());
    for (int i = 0; i < 2; i++) {
      assertEquals(outcomes.get(i).answer(), outcomes.get(i + 2).answer());
      assertEquals(outcomes.get(i).version(), outcomes.get(i + 2).version());
      assertTrue(outcomes.get(i + 2).repeated());
    }
  }

  @Test
  void keepsNumbersOfRequestsThatChangeNoTimer() {
    TimerKey none = key("none");
    Change.Keep look = new Change.Keep(none, REQUEST, NONE, NOW);
    assertEquals(Answer.NOT_FOUND, commit(look).answer());
    Outcome kept = commit(new Change.Keep(none, REQUEST, 0, NOW));
    assertEquals(Answer.APPLIED, kept.answer());
    assertEquals(0, kept.version());
    commit(new Change.Keep(none, new RequestId("r-2", ""), -7, NOW));
    restart();
    assertEquals(0, commit(new Change.Keep(none, REQUEST, 5, NOW)).version());
    assertEquals(Answer.APPLIED, commit(look).answer());
    assertEquals(-7, commit(new Change.Keep(none, new RequestId("r-2", ""), 1, NOW)).version());
    assertEquals(null, store.get(none));
  }

  @Test
  void deletesOnlyOldAnswers() {
    commit(schedule(key("a"), NOW + 1_000));
    for (int i = 0; i < 5; i++) {
      RequestId request = new RequestId("r-" + i, "");
      commit(new Change.Verb(key("a"), Change.Verb.Command.RUN, 0, request, NOW + i));
    }
    assertEquals(0, store.purgeAnswers(NOW, 10));
    assertEquals(2, store.purgeAnswers(NOW + 4, 2));
    assertEquals(2, store.purgeAnswers(NOW + 4, 10));
    assertEquals(0, store.purgeAnswers(NOW + 4, 10));
    restart();
    long revision = read(key("a")).revision();
    commit(
        new Change.Verb(key("a"), Change.Verb.Command.RUN, 0, new RequestId("r-4", ""), NOW + 9));
    assertEquals(revision, read(key("a")).revision());
    commit(
        new Change.Verb(key("a"), Change.Verb.Command.RUN, 0, new RequestId("r-3", ""), NOW + 9));
    assertEquals(revision + 1, read(key("a")).revision());
    assertEquals(1, store.purgeAnswers(NOW + 5, 10));
  }
}
