// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static io.timewheel.durable.TimerState.CANCELLED;
import static io.timewheel.durable.TimerState.DONE;
import static io.timewheel.durable.TimerState.FIRING;
import static io.timewheel.durable.TimerState.PARKED;
import static io.timewheel.durable.TimerState.PAUSED;
import static io.timewheel.durable.TimerState.READY;
import static io.timewheel.durable.TimerState.RETRYING;
import static io.timewheel.durable.TimerState.SCHEDULED;
import static io.timewheel.durable.TimerState.SET_ASIDE;
import static io.timewheel.durable.spi.TimerRecord.NEVER;
import static io.timewheel.durable.spi.TimerRecord.NONE;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.durable.MissedRuns;
import io.timewheel.durable.RetryPolicy;
import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.Outcome.Answer;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.TimerDefinition;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What every store of durable timers is held to. Extend it, and give it an empty store; a session
 * that it reopens must own all shards, under a new epoch.
 */
public abstract class TimerStoreContract {
  private static final long NOW = 1_800_000_000_000L;

  private TimerStore store;
  private final Map<Integer, Long> epochs = new ConcurrentHashMap<>();
  private long tokens;

  /** For the subclass. */
  protected TimerStoreContract() {}

  /**
   * A store without any data, not started yet.
   *
   * @return the store
   */
  protected abstract TimerStore create();

  /**
   * A new session on the data of one that was closed, not started yet.
   *
   * @param closed the former session
   * @return the new one
   */
  protected abstract TimerStore reopen(TimerStore closed);

  @BeforeEach
  void open() {
    store = create();
    store.start(listener());
  }

  @AfterEach
  void close() {
    store.close();
  }

  private StoreListener listener() {
    return new StoreListener() {
      @Override
      public void acquired(int shard, long epoch) {
        epochs.put(shard, epoch);
      }

      @Override
      public CompletionStage<Void> releasing(int shard) {
        return CompletableFuture.completedFuture(null);
      }

      @Override
      public void lost(int shard) {}

      @Override
      public void added(int shard, long fireAt) {}

      @Override
      public void ready(String namespace, String queue) {}
    };
  }

  @Test
  void takesWhatCallersAskForBeforeItIsStarted() {
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

  private void restart() {
    store.close();
    store = reopen(store);
    store.start(listener());
  }

  // Steps

  private static TimerKey key(String id) {
    return new TimerKey("shop", id);
  }

  private static TimerDefinition definition(boolean queue, String recurrence) {
    return new TimerDefinition(
        recurrence,
        "orders",
        queue,
        new byte[] {1, 0, -1},
        Map.of("traceparent", "00-ä"),
        RetryPolicy.DEFAULT,
        MissedRuns.FIRE_ONCE,
        60_000);
  }

  private static Change.Schedule schedule(TimerKey key, long dueAt) {
    return schedule(key, dueAt, definition(false, ""), Change.Condition.NONE, 0, null);
  }

  private static Change.Schedule schedule(
      TimerKey key,
      long dueAt,
      TimerDefinition definition,
      Change.Condition condition,
      long version,
      @Nullable String requestId) {
    return new Change.Schedule(
        key, definition, dueAt, false, condition, version, false, requestId, NEVER, NOW);
  }

  private Outcome commit(Change change) {
    return store.commit(List.of(change)).get(0);
  }

  private TimerRecord read(TimerKey key) {
    return requireNonNull(store.get(key), key.toString());
  }

  private int shard(TimerKey key) {
    return Shards.of(key, store.traits().shards());
  }

  private long epoch(TimerKey key) {
    return requireNonNull(epochs.get(shard(key)));
  }

  private Change.Begin begin(TimerKey key) {
    TimerRecord record = read(key);
    return new Change.Begin(
        key,
        record.version(),
        record.revision(),
        epoch(key),
        new ClaimToken(epoch(key), ++tokens),
        NONE,
        NOW);
  }

  private static Change.Finish finish(Change.Begin claim, Change.Finish.End end, long nextAt) {
    String error = end == Change.Finish.End.SUCCEEDED ? null : "no luck";
    return new Change.Finish(claim.key(), claim.token(), claim.epoch(), end, nextAt, error, NOW);
  }

  private List<DueTimer> due(long until) {
    List<DueTimer> all = new ArrayList<>();
    for (int shard = 0; shard < store.traits().shards(); shard++) {
      all.addAll(store.due(shard, until, null, 10_000));
    }
    return all;
  }

  private static TimerQuery query(String prefix, Set<TimerState> states) {
    return new TimerQuery("shop", prefix, states, Long.MIN_VALUE, NEVER, null, true);
  }

  // Scheduling

  @Test
  void keepsAllOfARecord() {
    TimerDefinition definition = definition(true, "every PT1H");
    commit(schedule(key("ä/:☃"), NOW + 5, definition, Change.Condition.NONE, 0, "r-1"));
    TimerRecord before = read(key("ä/:☃"));
    restart();
    assertEquals(before, read(key("ä/:☃")));
    assertEquals(definition, before.definition());
    assertEquals(NOW + 5, before.fireAt());
  }

  @Test
  void replacesAndSaysSo() {
    Outcome first = commit(schedule(key("a"), NOW + 5));
    Outcome second = commit(schedule(key("a"), NOW + 9));
    assertEquals(Answer.CREATED, first.answer());
    assertEquals(Answer.REPLACED, second.answer());
    assertTrue(second.version() > first.version());
    assertEquals(List.of(NOW + 9), due(NEVER).stream().map(DueTimer::fireAt).toList());
  }

  @Test
  void leavesTheSameUnchanged() {
    Outcome first = commit(schedule(key("a"), NOW + 5));
    Outcome second = commit(schedule(key("a"), NOW + 5));
    assertEquals(Answer.UNCHANGED, second.answer());
    assertEquals(first.version(), second.version());
    assertEquals(0, read(key("a")).revision());
  }

  @Test
  void heedsConditions() {
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
        Answer.FIRED,
        commit(schedule(key("a"), NOW, other, Change.Condition.VERSION, fired, null)).answer());
    assertEquals(DONE, read(key("a")).state());
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
    assertEquals(DONE, read(key("a")).state());
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
    assertEquals(DONE, read(key("a")).state());
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
  void takesTheStepsOfABatchInOrder() {
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
  void goesOnBehindAPosition() {
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
  void firesWhatIsPastAtOnce() {
    commit(schedule(key("a"), NOW - 1_000_000));
    assertEquals(NOW, due(NEVER).get(0).fireAt());
    assertEquals(NOW - 1_000_000, read(key("a")).dueAt());
  }

  // Attempts

  @Test
  void completesAnAttempt() {
    commit(schedule(key("a"), NOW));
    Change.Begin claim = begin(key("a"));
    Outcome begun = commit(claim);
    assertEquals(Answer.APPLIED, begun.answer());
    TimerRecord record = requireNonNull(begun.record());
    assertEquals(FIRING, record.state());
    assertEquals(1, record.attempt());
    assertEquals(read(key("a")), record, "the record of a claim is complete");
    assertEquals(
        Answer.APPLIED, commit(finish(claim, Change.Finish.End.SUCCEEDED, NEVER)).answer());
    assertEquals(DONE, read(key("a")).state());
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
  void retriesAndSetsAside() {
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
    assertEquals(SET_ASIDE, record.state());
    assertEquals(2, record.attempts().size());
    assertEquals("no luck", record.attempts().get(1).error());
    assertTrue(due(NEVER).isEmpty());
    commit(new Change.Verb(key("a"), Change.Verb.What.REVIVE, 0, NOW));
    assertEquals(0, read(key("a")).attempt());
    assertEquals(1, due(NEVER).size());
  }

  @Test
  void goesOnToTheNextRun() {
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
    assertEquals(FIRING, read(key("a")).state());
  }

  @Test
  void takesOverAnAttemptOfAnOlderEpoch() {
    commit(schedule(key("a"), NOW));
    commit(begin(key("a")));
    restart();
    assertEquals(FIRING, due(NEVER).get(0).state(), "an open claim stays in the index");
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
      assertEquals(Answer.FIRING, commit(new Change.Cancel(claim.key(), 0, NOW)).answer());
    }
    commit(finish(fails, Change.Finish.End.FAILED, NOW));
    commit(finish(succeeds, Change.Finish.End.SUCCEEDED, NEVER));
    assertEquals(CANCELLED, read(key("fails")).state());
    assertEquals(DONE, read(key("succeeds")).state());
    assertEquals(Answer.FIRED, commit(new Change.Cancel(key("succeeds"), 0, NOW)).answer());
    restart();
    assertEquals(Answer.OUTDATED, commit(begin(key("dies"))).answer());
    assertEquals(CANCELLED, read(key("dies")).state());
    assertTrue(due(NEVER).isEmpty());
  }

  @Test
  void letsTheEndOfAReplacedAttemptCountForNothing() {
    commit(schedule(key("a"), NOW));
    Change.Begin claim = begin(key("a"));
    commit(claim);
    commit(schedule(key("a"), NOW + 50));
    assertEquals(
        Answer.APPLIED, commit(finish(claim, Change.Finish.End.SUCCEEDED, NEVER)).answer());
    assertEquals(SCHEDULED, read(key("a")).state());
    assertEquals(NOW + 50, due(NEVER).get(0).fireAt());
  }

  // Pauses, parking

  @Test
  void pausesATimer() {
    commit(schedule(key("a"), NOW + 5));
    commit(new Change.Verb(key("a"), Change.Verb.What.PAUSE, 0, NOW));
    assertEquals(PAUSED, read(key("a")).state());
    assertTrue(due(NEVER).isEmpty());
    commit(new Change.Verb(key("a"), Change.Verb.What.RESUME, 0, NOW + 10));
    assertEquals(NOW + 10, due(NEVER).get(0).fireAt());
  }

  @Test
  void holdsWhatIsDueInAPausedNamespace() {
    commit(schedule(key("a"), NOW));
    store.pause("shop");
    restart();
    assertEquals(Set.of("shop"), store.paused());
    assertEquals(Answer.HELD, commit(begin(key("a"))).answer());
    assertTrue(read(key("a")).isHeld());
    assertTrue(due(NEVER).isEmpty());
    store.resume("shop");
    commit(new Change.Verb(key("a"), Change.Verb.What.RELEASE, 0, NOW));
    assertEquals(Answer.APPLIED, commit(begin(key("a"))).answer());
  }

  @Test
  void parksAndRevives() {
    commit(schedule(key("a"), NOW));
    TimerRecord read = read(key("a"));
    commit(
        new Change.Park(
            key("a"), read.version(), read.revision(), epoch(key("a")), "unknown", NOW));
    assertEquals(PARKED, read(key("a")).state());
    assertEquals("unknown", read(key("a")).note());
    commit(new Change.Verb(key("a"), Change.Verb.What.REVIVE, 0, NOW));
    assertEquals(SCHEDULED, read(key("a")).state());
  }

  // Queues

  private void makeReady(String id, long now) {
    commit(schedule(key(id), NOW, definition(true, ""), Change.Condition.NONE, 0, null));
    TimerRecord read = read(key(id));
    commit(new Change.MakeReady(key(id), read.version(), read.revision(), epoch(key(id)), now));
  }

  private List<TimerRecord> lease(int max) {
    List<ClaimToken> lease = new ArrayList<>();
    for (int i = 0; i < max; i++) {
      lease.add(new ClaimToken(7, ++tokens));
    }
    return store.lease(new LeaseRequest("shop", "orders", lease, NOW + 30_000, NOW));
  }

  private static Change.Finish end(TimerRecord leased, Change.Finish.End end, long now) {
    return new Change.Finish(
        leased.key(), requireNonNull(leased.claim()).token(), 0, end, NEVER, null, now);
  }

  @Test
  void leasesTheLongestReadyToOneConsumer() {
    makeReady("b", NOW + 1);
    makeReady("a", NOW + 2);
    makeReady("c", NOW + 3);
    assertEquals(READY, read(key("a")).state());
    assertTrue(due(NEVER).isEmpty(), "what is ready is not in the due index");
    List<TimerRecord> first = lease(2);
    assertEquals(List.of("b", "a"), first.stream().map(record -> record.key().id()).toList());
    assertEquals(1, lease(2).size());
    assertEquals(0, lease(2).size());
    assertEquals(read(key("b")), first.get(0));
    assertEquals(NOW + 30_000, due(NEVER).get(0).fireAt(), "the end of a lease is");
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
    assertEquals(Answer.APPLIED, commit(end(leased, Change.Finish.End.SUCCEEDED, NOW)).answer());
    assertEquals(Answer.APPLIED, commit(end(leased, Change.Finish.End.SUCCEEDED, NOW)).answer());
    assertEquals(DONE, read(key("a")).state());
  }

  @Test
  void losesALeaseOnlyWhenItIsOver() {
    makeReady("a", NOW);
    TimerRecord leased = lease(1).get(0);
    ClaimToken token = requireNonNull(leased.claim()).token();
    assertEquals(
        Answer.APPLIED, commit(new Change.Extend(key("a"), token, NOW + 60_000, NOW)).answer());
    assertEquals(
        Answer.OUTDATED, commit(end(leased, Change.Finish.End.LOST, NOW + 59_999)).answer());
    restart();
    assertEquals(FIRING, read(key("a")).state(), "a lease survives a restart");
    assertEquals(
        Answer.APPLIED, commit(end(leased, Change.Finish.End.LOST, NOW + 60_000)).answer());
    assertEquals(Answer.OUTDATED, commit(end(leased, Change.Finish.End.SUCCEEDED, NOW)).answer());
    assertEquals(RETRYING, read(key("a")).state());
  }

  @Test
  void givesBackUncounted() {
    makeReady("a", NOW);
    commit(end(lease(1).get(0), Change.Finish.End.GIVEN_BACK, NOW));
    TimerRecord again = lease(1).get(0);
    assertEquals(1, again.attempt());
  }

  // Looking

  @Test
  void pagesByKey() {
    for (int i = 0; i < 25; i++) {
      commit(schedule(key("id-%02d".formatted(i)), NOW + i));
    }
    commit(schedule(new TimerKey("zoo", "id"), NOW));
    commit(new Change.Cancel(key("id-07"), 0, NOW));
    List<String> found = new ArrayList<>();
    TimerKey after = null;
    do {
      TimerPage page = store.page(query("id-", EnumSet.of(SCHEDULED)), after, 4);
      page.records().forEach(record -> found.add(record.key().id()));
      after = page.next();
    } while (after != null);
    assertEquals(24, found.size());
    assertEquals(found.stream().sorted().toList(), found);
    assertEquals(1, store.page(query("", EnumSet.of(CANCELLED)), null, 10).records().size());
    assertEquals(10, store.page(query("id-1", EnumSet.of(SCHEDULED)), null, 99).records().size());
  }

  @Test
  void countsByTimeAndByState() {
    commit(schedule(key("a"), NOW));
    commit(schedule(key("b"), NOW + 10));
    commit(schedule(key("c"), NOW + 19));
    commit(schedule(new TimerKey("zoo", "d"), NOW + 20));
    commit(new Change.Cancel(key("c"), 0, NOW));
    long[] bounds = {NOW, NOW + 10, NOW + 20, NOW + 30};
    assertArrayEquals(new long[] {1, 1, 1}, store.histogram(null, bounds));
    assertArrayEquals(new long[] {1, 1, 0}, store.histogram("shop", bounds));
    assertEquals(
        Map.of("shop", Map.of(SCHEDULED, 2L, CANCELLED, 1L), "zoo", Map.of(SCHEDULED, 1L)),
        store.counts());
  }

  @Test
  void forgetsWhatIsFinishedButNotItsVersion() {
    long version = 0;
    for (String id : List.of("a", "b", "c")) {
      version = commit(schedule(key(id), NOW)).version();
      commit(new Change.Cancel(key(id), 0, NOW + id.charAt(0)));
    }
    commit(schedule(key("stays"), NOW));
    assertEquals(0, store.forget(NOW, 10, 100));
    assertEquals(1, store.forget(NOW, 2, 100));
    assertNull(store.get(key("a")));
    assertEquals(1, store.forget(NEVER, 10, 1));
    assertEquals(1, store.forget(NEVER, 10, 100));
    assertNotNull(store.get(key("stays")));
    assertTrue(commit(schedule(key("c"), NOW)).version() > version);
  }
}
