// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static io.timewheel.durable.model.TimerState.COMPLETED;
import static io.timewheel.durable.model.TimerState.READY;
import static io.timewheel.durable.model.TimerState.RETRYING;
import static io.timewheel.durable.model.TimerState.RUNNING;
import static io.timewheel.durable.model.TimerState.SCHEDULED;
import static io.timewheel.durable.spi.record.TimerRecord.NEVER;
import static io.timewheel.durable.spi.record.TimerRecord.NONE;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.PageBuilder;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Verifies ready timers and claim leases. */
abstract class QueueContract extends AttemptContract {
  private static final int LARGE = 64 * 1024;

  void makeReady(String id, long now) {
    makeReady("orders", id, now);
  }

  private void makeReady(String queue, String id, long now) {
    commit(schedule(key(id), NOW, definition(queue, true, ""), Change.Condition.NONE, 0, null));
    TimerRecord read = read(key(id));
    commit(
        new Change.MakeReady(key(id), read.version(), read.revision(), epoch(key(id)), NONE, now));
  }

  List<TimerRecord> lease(int max) {
    return lease(max, List.of(new LeaseRequest("shop", "orders", max, NOW + 30_000)));
  }

  private List<TimerRecord> lease(int limit, List<LeaseRequest> requests) {
    return store.lease(requests, limit, NOW, () -> new ClaimToken(7, ++tokens));
  }

  static Change.Finish end(TimerRecord leased, Change.Finish.End end, long now) {
    return new Change.Finish(
        leased.key(), requireNonNull(leased.claim()).token(), 0, end, NEVER, null, now);
  }

  private void makeLargeReady(int count) {
    TimerDefinition large =
        new TimerDefinition(
            "",
            "orders",
            true,
            new byte[LARGE],
            Map.of(),
            RetryPolicy.DEFAULT,
            MissedRuns.FIRE_ONCE,
            0);
    for (int i = 0; i < count; i++) {
      TimerKey key = key("large" + i);
      commit(schedule(key, NOW, large, Change.Condition.NONE, 0, null));
      TimerRecord read = read(key);
      commit(new Change.MakeReady(key, read.version(), read.revision(), epoch(key), NONE, NOW + i));
    }
  }

  @Test
  void leasesTheLongestReadyToOneConsumer() {
    makeReady("b", NOW + 1);
    makeReady("a", NOW + 2);
    makeReady("c", NOW + 3);
    assertEquals(READY, read(key("a")).state());
    assertTrue(due(NEVER).isEmpty(), "a ready timer is not in the due index");
    List<TimerRecord> first = lease(2);
    assertEquals(List.of("b", "a"), first.stream().map(record -> record.key().id()).toList());
    assertEquals(1, lease(2).size());
    assertEquals(0, lease(2).size());
    assertEquals(read(key("b")), first.get(0));
    assertEquals(NOW + 30_000, due(NEVER).get(0).fireAt(), "the end of a lease is");
  }

  @Test
  void leasesFromManyQueuesInTheOrderOfTheRequests() {
    for (String queue : List.of("orders", "mails", "prints")) {
      for (int i = 1; i <= 3; i++) {
        makeReady(queue, queue + i, NOW + i);
      }
    }
    List<LeaseRequest> requests = new ArrayList<>();
    for (String queue : List.of("mails", "empty", "prints", "orders")) {
      requests.add(new LeaseRequest("shop", queue, 2, NOW + 10_000L * queue.length()));
    }
    requests.add(new LeaseRequest("elsewhere", "orders", 2, NOW + 1));
    List<TimerRecord> leased = lease(5, requests);
    assertEquals(
        List.of("mails1", "mails2", "prints1", "prints2", "orders1"),
        leased.stream().map(record -> record.key().id()).toList());
    for (TimerRecord record : leased) {
      assertEquals(read(record.key()), record);
      assertEquals(
          NOW + 10_000L * record.definition().handler().length(),
          requireNonNull(record.claim()).until());
    }
    assertEquals(
        5,
        leased.stream().map(record -> requireNonNull(record.claim()).token()).distinct().count());
    assertEquals(
        List.of("mails3", "prints3", "orders2", "orders3"),
        lease(100, requests).stream().map(record -> record.key().id()).toList());
    assertEquals(List.of(), lease(100, requests));
  }

  @Test
  void aLeaseEndsAtASizeAndTheNextOneContinues() {
    int count = 70;
    makeLargeReady(count);
    List<TimerRecord> first = lease(1_000);
    assertEquals(PageBuilder.MAX_BYTES / LARGE, first.size());
    assertEquals(count - first.size(), lease(1_000).size());
  }

  @Test
  void aPauseOfANamespaceLeavesTheQueuesOfOthers() {
    makeReady("a", NOW);
    store.pause("elsewhere");
    List<LeaseRequest> requests =
        List.of(
            new LeaseRequest("elsewhere", "orders", 1, NOW + 30_000),
            new LeaseRequest("shop", "orders", 1, NOW + 30_000));
    assertEquals(1, lease(10, requests).size());
    store.resume("elsewhere");
  }

  @Test
  void leasesACatchUpRun() {
    commit(
        schedule(
            key("a"), NOW - 9_000, definition(true, "every PT1S"), Change.Condition.NONE, 0, null));
    TimerRecord read = read(key("a"));
    commit(
        new Change.MakeReady(
            key("a"), read.version(), read.revision(), epoch(key("a")), NOW - 2_000, NOW));
    assertEquals(NOW - 2_000, lease(1).get(0).scheduledAt());
    assertEquals(NOW - 2_000, read(key("a")).dueAt());
  }

  @Test
  void leasesNothingWhileItIsPaused() {
    makeReady("a", NOW);
    for (String scope : List.of("shop", TimerStore.EVERYTHING)) {
      store.pause(scope);
      assertEquals(0, lease(1).size());
      store.resume(scope);
    }
    assertEquals(1, lease(1).size());
  }

  @Test
  void leasesNothingOfAPausedQueue() {
    makeReady("orders", "a", NOW);
    makeReady("mails", "b", NOW);
    List<LeaseRequest> requests =
        List.of(
            new LeaseRequest("shop", "orders", 10, NOW + 30_000),
            new LeaseRequest("shop", "mails", 10, NOW + 30_000));
    String orders = Scopes.queue("shop", "orders");
    store.pause(orders);
    store.pause(Scopes.queue("elsewhere", "mails"));
    assertEquals(
        List.of("b"), lease(10, requests).stream().map(record -> record.key().id()).toList());
    makeReady("orders", "c", NOW + 1);
    assertEquals(READY, read(key("c")).state(), "a pause of a queue holds no timer");
    restart();
    assertEquals(Set.of(orders, Scopes.queue("elsewhere", "mails")), store.paused());
    assertEquals(List.of(), lease(10, requests));
    store.resume(orders);
    assertEquals(
        List.of("a", "c"), lease(10, requests).stream().map(record -> record.key().id()).toList());
  }

  private int leaseLimited(SharedLimit limit, long now) {
    List<LeaseRequest> requests =
        List.of(
            new LeaseRequest("shop", "orders", 10, now + 30_000, limit),
            new LeaseRequest("shop", "none", 10, now + 30_000, limit));
    return store.lease(requests, 100, now, () -> new ClaimToken(8, ++tokens)).size();
  }

  @Test
  void leasesNoMoreThanALimitAdmits() {
    for (int i = 0; i < 9; i++) {
      makeReady("orders", "t" + i, NOW + i);
    }
    SharedLimit rate = new SharedLimit(2, 0);
    assertEquals(2, leaseLimited(rate, NOW), "a second's worth at once");
    assertEquals(0, leaseLimited(rate, NOW + 400));
    assertEquals(1, leaseLimited(rate, NOW + 600));
    assertEquals(0, leaseLimited(new SharedLimit(100, 3), NOW + 60_000), "three run");
    assertEquals(1, leaseLimited(new SharedLimit(0, 4), NOW + 60_000));
    commit(end(read(key("t0")), Change.Finish.End.SUCCEEDED, NOW));
    assertEquals(1, leaseLimited(new SharedLimit(0, 4), NOW + 60_000), "another one has ended");
    assertEquals(4, lease(10).size(), "without a limit");
  }

  @Test
  void takesTokensForClaimsThatAreAsLargeAsMayBe() {
    makeLargeReady(70);
    SharedLimit rate = new SharedLimit(64, 0);
    List<LeaseRequest> requests =
        List.of(new LeaseRequest("shop", "orders", 1_000, NOW + 30_000, rate));
    int first = lease(1_000, requests).size();
    assertTrue(first > 0 && first <= PageBuilder.MAX_BYTES / LARGE, "claims: " + first);
    assertEquals(64 - first, lease(1_000, requests).size());
  }

  @Test
  void givesNoMorePermitsThanALimitAdmits() {
    SharedLimit limit = new SharedLimit(0, 2);
    assertEquals(0, store.acquire("host", limit, "a", NOW + 1_000, NOW));
    assertEquals(0, store.acquire("host", limit, "b", NOW + 9_000, NOW));
    assertTrue(store.acquire("host", limit, "c", NOW + 9_000, NOW) > 0);
    assertEquals(0, store.acquire("other", limit, "c", NOW + 9_000, NOW));
    assertEquals(0, store.acquire("host", limit, "c", NOW + 9_000, NOW + 1_000), "a is over");
    store.release("host", "none");
    assertTrue(store.acquire("host", limit, "d", NOW + 9_000, NOW + 1_000) > 0);
    store.release("host", "b");
    assertEquals(0, store.acquire("host", limit, "d", NOW + 9_000, NOW + 1_000));
    SharedLimit rate = new SharedLimit(0.5, 0);
    assertEquals(0, store.acquire("slow", rate, "a", NOW, NOW));
    assertEquals(1_000, store.acquire("slow", rate, "b", NOW, NOW), "the longest wait");
    assertEquals(0, store.acquire("slow", rate, "b", NOW, NOW + 2_000));
    SharedLimit two = new SharedLimit(2, 0);
    assertEquals(0, store.acquire("host", two, "e", NOW, NOW + 12_000));
    assertEquals(0, store.acquire("host", two, "f", NOW, NOW + 11_000), "a slower clock");
    assertTrue(store.acquire("host", two, "g", NOW, NOW + 12_000) > 0, "no time counts twice");
    long earlier = NOW - 3_600_000;
    assertEquals(0, store.acquire("slow", rate, "c", NOW, earlier), "the clock was set back");
    assertEquals(1_000, store.acquire("slow", rate, "d", NOW, earlier));
    assertEquals(0, store.acquire("slow", rate, "d", NOW, earlier + 2_000));
  }

  @Test
  void countsTheUnfinishedTimersOfEachQueue() {
    TimerKey orders = new TimerKey("shop", "orders");
    TimerKey mails = new TimerKey("shop", "mails");
    makeReady("orders", "a", NOW + 7);
    makeReady("orders", "b", NOW + 3);
    makeReady("orders", "c", NOW + 9);
    commit(schedule(key("d"), NOW, definition("mails", true, ""), Change.Condition.NONE, 0, null));
    commit(
        schedule(
            new TimerKey("shop2", "e"),
            NOW,
            definition("mails", true, ""),
            Change.Condition.NONE,
            0,
            null));
    commit(schedule(key("handled"), NOW));
    TimerRecord leased = lease(1).get(0);
    assertEquals(
        Map.of(orders, Map.of(READY, 2L, RUNNING, 1L), mails, Map.of(SCHEDULED, 1L)),
        store.queueCounts("shop"));
    assertEquals(
        Set.of(orders, mails, new TimerKey("shop2", "mails")), store.queueCounts(null).keySet());
    assertEquals(Set.of("shop", "shop2"), store.counts().keySet());
    assertEquals(
        Map.of(orders, NOW + 7), store.readySince(List.of(orders, mails, new TimerKey("x", "y"))));
    commit(
        schedule(
            key("d"), NOW + 1, definition("orders", true, ""), Change.Condition.NONE, 0, null));
    commit(end(leased, Change.Finish.End.SUCCEEDED, NOW));
    commit(new Change.Cancel(key("a"), 0, NOW));
    restart();
    assertEquals(Map.of(orders, Map.of(READY, 1L, SCHEDULED, 1L)), store.queueCounts("shop"));
    store.purge(NEVER, 0, 100);
    assertEquals(Map.of(orders, Map.of(READY, 1L, SCHEDULED, 1L)), store.queueCounts("shop"));
  }

  @Test
  void endsALeaseOnce() {
    makeReady("a", NOW);
    TimerRecord leased = lease(1).get(0);
    assertEquals(
        Answer.OUTDATED,
        commit(
                new Change.Finish(
                    key("a"),
                    new ClaimToken(1, 2),
                    0,
                    Change.Finish.End.SUCCEEDED,
                    NEVER,
                    null,
                    NOW))
            .answer());
    Outcome first = commit(end(leased, Change.Finish.End.SUCCEEDED, NOW));
    assertEquals(Answer.APPLIED, first.answer());
    assertFalse(first.repeated());
    Outcome second = commit(end(leased, Change.Finish.End.SUCCEEDED, NOW));
    assertEquals(Answer.APPLIED, second.answer());
    assertTrue(second.repeated());
    assertEquals(COMPLETED, read(key("a")).state());
  }

  @Test
  void losesALeaseOnlyAfterItsExpiry() {
    makeReady("a", NOW);
    TimerRecord leased = lease(1).get(0);
    ClaimToken token = requireNonNull(leased.claim()).token();
    assertEquals(
        Answer.APPLIED, commit(new Change.Extend(key("a"), token, NOW + 60_000, NOW)).answer());
    assertEquals(
        Answer.OUTDATED, commit(end(leased, Change.Finish.End.LOST, NOW + 59_999)).answer());
    restart();
    assertEquals(RUNNING, read(key("a")).state(), "a lease survives a restart");
    assertEquals(
        Answer.APPLIED, commit(end(leased, Change.Finish.End.LOST, NOW + 60_000)).answer());
    assertEquals(Answer.OUTDATED, commit(end(leased, Change.Finish.End.SUCCEEDED, NOW)).answer());
    assertEquals(RETRYING, read(key("a")).state());
  }

  @Test
  void endsALeaseEarlierAfterTheClockHasGoneBack() {
    makeReady("a", NOW);
    TimerRecord leased = lease(1).get(0);
    long now = NOW - 20_000;
    assertEquals(
        Answer.OUTDATED,
        commit(retime(leased, leased.changedAt(), leased.changedAt() + 1)).answer(),
        "it may have been leased after the step");
    assertEquals(Answer.APPLIED, commit(retime(leased, now - 10_000, now)).answer());
    assertEquals(Answer.OUTDATED, commit(retime(leased, now - 10_000, now)).answer());
    TimerRecord moved = read(key("a"));
    assertEquals(NOW + 10_000, moved.fireAt());
    assertEquals(NOW + 10_000, requireNonNull(moved.claim()).until());
    assertEquals(NOW + 10_000, due(NEVER).get(0).fireAt());
    assertEquals(Answer.APPLIED, commit(end(leased, Change.Finish.End.SUCCEEDED, now)).answer());
  }

  @Test
  void movesARecurringTimerIntoANewVersionAfterTheClockHasGoneBack() {
    commit(
        schedule(
            key("a"),
            NOW + 60_000,
            definition(false, "every PT1M"),
            Change.Condition.NONE,
            0,
            null));
    TimerRecord read = read(key("a"));
    long now = NOW - 20_000;
    assertEquals(Answer.APPLIED, commit(retime(read, now, now)).answer());
    assertEquals(Answer.OUTDATED, commit(retime(read, now, now)).answer());
    TimerRecord moved = read(key("a"));
    assertEquals(NOW + 40_000, moved.dueAt());
    assertTrue(moved.version() > read.version());
    assertEquals(List.of(moved.due()), due(NEVER));
  }

  private Change.Retime retime(TimerRecord read, long steppedTo, long now) {
    TimerKey key = read.key();
    return new Change.Retime(
        key, read.version(), read.revision(), epoch(key), read.fireAt() - 20_000, steppedTo, now);
  }

  @Test
  void givesBackUncounted() {
    makeReady("a", NOW);
    commit(end(lease(1).get(0), Change.Finish.End.GIVEN_BACK, NOW));
    TimerRecord again = lease(1).get(0);
    assertEquals(1, again.attempt());
  }
}
