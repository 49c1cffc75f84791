// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static io.timewheel.durable.model.TimerState.COMPLETED;
import static io.timewheel.durable.model.TimerState.READY;
import static io.timewheel.durable.model.TimerState.RETRYING;
import static io.timewheel.durable.model.TimerState.RUNNING;
import static io.timewheel.durable.spi.record.TimerRecord.NEVER;
import static io.timewheel.durable.spi.record.TimerRecord.NONE;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Verifies that acks, nacks and extensions of claim leases can be repeated, and that their timers
 * are read together.
 */
abstract class LeaseContract extends QueueContract {
  private static final RequestId REQUEST = new RequestId("r-1", "content");
  private static final RequestId OTHER = new RequestId("r-1", "other content");

  private TimerRecord leased(String id) {
    makeReady(id, NOW);
    return lease(1).get(0);
  }

  private static Change.Finish nack(TimerRecord leased, RequestId request) {
    return new Change.Finish(
            leased.key(),
            requireNonNull(leased.claim()).token(),
            0,
            Change.Finish.End.FAILED,
            NOW + 10,
            "no luck",
            NOW)
        .with(request);
  }

  private static Change.Finish ack(TimerRecord leased, RequestId request) {
    return end(leased, Change.Finish.End.SUCCEEDED, NOW).with(request);
  }

  private static Change.Extend extend(TimerRecord leased, long until, RequestId request) {
    return new Change.Extend(
        leased.key(), requireNonNull(leased.claim()).token(), until, request, NOW);
  }

  private void readyAgain(String id) {
    TimerRecord read = read(key(id));
    commit(
        new Change.MakeReady(
            key(id), read.version(), read.revision(), epoch(key(id)), NONE, NOW + 10));
    assertEquals(READY, read(key(id)).state());
  }

  private void assertRepeats(Change change) {
    TimerRecord before = read(change.key());
    Outcome again = commit(change);
    assertEquals(Answer.APPLIED, again.answer());
    assertTrue(again.repeated());
    assertEquals(before, read(change.key()));
  }

  @Test
  void answersARepeatedNackAfterTheNextClaim() {
    Change.Finish nack = nack(leased("a"), REQUEST);
    assertFalse(commit(nack).repeated());
    assertEquals(RETRYING, read(key("a")).state());
    assertRepeats(nack);
    readyAgain("a");
    lease(1);
    restart();
    assertRepeats(nack);
    assertEquals(RUNNING, read(key("a")).state());
  }

  @Test
  void answersARepeatedAckAfterTheNextClaim() {
    makeReady("a", NOW);
    Change.Finish ack =
        new Change.Finish(
                key("a"),
                requireNonNull(lease(1).get(0).claim()).token(),
                0,
                Change.Finish.End.RESCHEDULED,
                NOW + 10,
                null,
                NOW)
            .with(REQUEST);
    assertEquals(Answer.APPLIED, commit(ack).answer());
    readyAgain("a");
    commit(end(lease(1).get(0), Change.Finish.End.SUCCEEDED, NOW + 20));
    restart();
    assertRepeats(ack);
    assertEquals(COMPLETED, read(key("a")).state());
    assertEquals(Answer.OUTDATED, commit(ack.with(null)).answer());
  }

  @Test
  void keepsTheAnswerOfAnAckThatRepeatsOneWithoutARequest() {
    TimerRecord leased = leased("a");
    commit(end(leased, Change.Finish.End.SUCCEEDED, NOW));
    assertTrue(commit(ack(leased, REQUEST)).repeated());
    assertRepeats(ack(leased, REQUEST));
    assertEquals(Answer.REQUEST_DIFFERS, commit(ack(leased, OTHER)).answer());
    commit(schedule(key("a"), NOW + 1_000));
    restart();
    assertRepeats(ack(leased, REQUEST));
  }

  @Test
  void extendsALeaseOnceForARepeatedRequest() {
    TimerRecord leased = leased("a");
    assertEquals(Answer.APPLIED, commit(extend(leased, NOW + 60_000, REQUEST)).answer());
    restart();
    assertRepeats(extend(leased, NOW + 90_000, REQUEST));
    assertEquals(NOW + 60_000, requireNonNull(read(key("a")).claim()).until());
    commit(end(leased, Change.Finish.End.SUCCEEDED, NOW + 1));
    assertRepeats(extend(leased, NOW + 90_000, REQUEST));
  }

  @Test
  void refusesAnEndWithTheSameRequestIdAndDifferentContent() {
    TimerRecord leased = leased("a");
    commit(extend(leased, NOW + 60_000, REQUEST));
    assertEquals(Answer.REQUEST_DIFFERS, commit(extend(leased, NOW + 90_000, OTHER)).answer());
    assertEquals(Answer.REQUEST_DIFFERS, commit(nack(leased, OTHER)).answer());
    assertEquals(Answer.REQUEST_DIFFERS, commit(ack(leased, OTHER)).answer());
    assertEquals(RUNNING, read(key("a")).state());
    assertEquals(NOW + 60_000, requireNonNull(read(key("a")).claim()).until());
  }

  @Test
  void keepsNoAnswerToAnEndOfALostLease() {
    TimerRecord leased = leased("a");
    commit(nack(leased, new RequestId("r-2", "")));
    assertEquals(Answer.OUTDATED, commit(ack(leased, REQUEST)).answer());
    assertEquals(Answer.OUTDATED, commit(extend(leased, NOW + 60_000, REQUEST)).answer());
    Change.Keep look = new Change.Keep(key("a"), REQUEST, NONE, NOW);
    assertEquals(Answer.NOT_FOUND, commit(look).answer());
  }

  @Test
  void findsTheAnswerOfANackWithoutTheLease() {
    commit(nack(leased("a"), REQUEST));
    Outcome found = commit(new Change.Keep(key("a"), REQUEST, NONE, NOW));
    assertEquals(Answer.APPLIED, found.answer());
    assertTrue(found.repeated());
    assertEquals(
        Answer.REQUEST_DIFFERS, commit(new Change.Keep(key("a"), OTHER, NONE, NOW)).answer());
  }

  @Test
  void endsManyLeasesInOneBatchWithTheirRequests() {
    List<Change> changes = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      TimerRecord leased = leased("a" + i);
      changes.add(i % 2 == 0 ? ack(leased, REQUEST) : nack(leased, REQUEST));
    }
    store.commit(changes).forEach(outcome -> assertFalse(outcome.repeated()));
    restart();
    for (Outcome again : store.commit(changes)) {
      assertEquals(Answer.APPLIED, again.answer());
      assertTrue(again.repeated());
    }
  }

  @Test
  void readsManyRecordsTogether() {
    Set<TimerKey> keys = Set.of(key("claimed"), key("done"), key("later"), key("none"));
    TimerRecord claimed = leased("claimed");
    commit(end(leased("done"), Change.Finish.End.SUCCEEDED, NOW));
    commit(schedule(key("later"), NOW + 1_000));
    restart();
    Map<TimerKey, TimerRecord> read = store.read(keys);
    assertEquals(Set.of(key("claimed"), key("done"), key("later")), read.keySet());
    assertEquals(claimed.claim(), requireNonNull(read.get(key("claimed"))).claim());
    assertEquals(COMPLETED, requireNonNull(read.get(key("done"))).state());
    for (TimerRecord record : read.values()) {
      TimerRecord whole = read(record.key());
      assertEquals(whole.version(), record.version());
      assertEquals(whole.revision(), record.revision());
      assertEquals(whole.definition().recurrence(), record.definition().recurrence());
      assertEquals(whole.definition().retry(), record.definition().retry());
    }
    assertEquals(Map.of(), store.read(List.of()));
    assertEquals(Map.of(), store.read(List.of(key("none"))));
    assertEquals(NEVER, requireNonNull(read.get(key("done"))).fireAt());
  }
}
