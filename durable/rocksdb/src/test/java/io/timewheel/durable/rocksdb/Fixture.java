// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static io.timewheel.durable.spi.record.TimerRecord.NEVER;
import static io.timewheel.durable.spi.record.TimerRecord.NONE;
import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Drives a store step by step, like an engine. */
public final class Fixture implements StoreListener {
  public static final long NOW = 1_800_000_000_000L;

  final TimerStore store;

  /** The times of the timers that the store has reported. */
  final List<Long> added = new ArrayList<>();

  long epoch;
  private long tokens;

  public Fixture(TimerStore store) {
    this.store = store;
    store.start(this);
  }

  /** Opens a store that loses nothing to a kill, and waits for no disk. */
  public static RocksTimerStore open(Path directory) {
    return RocksTimerStore.builder(directory).sync(SyncMode.os()).open();
  }

  public static TimerKey key(String id) {
    return new TimerKey("shop", id);
  }

  static TimerDefinition definition(boolean queue, int payloadBytes) {
    return definition(queue, "orders", payloadBytes, false);
  }

  static TimerDefinition definition(
      boolean queue, String target, int payloadBytes, boolean recurring) {
    return new TimerDefinition(
        recurring ? "every PT1H" : "",
        target,
        queue,
        new byte[payloadBytes],
        Map.of("trace", "ä"),
        new RetryPolicy(3, Duration.ofSeconds(2), Duration.ofMinutes(5)),
        MissedRuns.SKIP,
        90_000);
  }

  static Change.Schedule schedule(TimerKey key, long dueAt, TimerDefinition definition) {
    return new Change.Schedule(
        key, definition, dueAt, false, Change.Condition.NONE, 0, false, null, NEVER, NOW);
  }

  public static Change.Schedule schedule(String id, long dueAt) {
    return schedule(key(id), dueAt, definition(false, 3));
  }

  public Outcome commit(Change change) {
    return store.commit(List.of(change)).get(0);
  }

  public TimerRecord read(String id) {
    return requireNonNull(store.get(key(id)), id);
  }

  Change.Begin begin(String id) {
    TimerRecord record = read(id);
    ClaimToken token = new ClaimToken(epoch, ++tokens);
    return new Change.Begin(
        record.key(), record.version(), record.revision(), epoch, token, NONE, NOW);
  }

  Change.Finish finish(String id, Change.Finish.End end) {
    TimerRecord record = read(id);
    String error = end == Change.Finish.End.SUCCEEDED ? null : "no luck \ud83d\ude00 \ud800";
    return new Change.Finish(
        record.key(), requireNonNull(record.claim()).token(), epoch, end, NOW + 9, error, NOW + 5);
  }

  /** Creates timers in every state, with all optional elements of a record. */
  public void fill() {
    store.pause("closed");
    store.commit(
        List.of(
            schedule("scheduled", NOW + 5),
            schedule("retrying", NOW + 5),
            schedule("firing", NOW + 5),
            schedule(key("ready"), NOW, definition(true, 0)),
            schedule(key("leased"), NOW - 1, definition(true, 2_000)),
            schedule(key("failed"), NOW, definition(false, 3_000)),
            schedule("blocked", NOW),
            schedule("paused", NOW),
            schedule("done", NOW),
            schedule("cancelled", NOW),
            schedule(new TimerKey("ä☃", "\ud83d\ude00"), NOW, definition(false, 1_025)),
            schedule(new TimerKey("closed", "held"), NOW, definition(false, 1_024)),
            new Change.Schedule(
                key("recurring"),
                new TimerDefinition(
                    "times 9 until 2999-01-01T00:00:00Z every PT1H",
                    "orders",
                    false,
                    new byte[] {1, -1},
                    Map.of(),
                    RetryPolicy.DEFAULT,
                    MissedRuns.FIRE_ALL,
                    0),
                NOW,
                false,
                Change.Condition.NONE,
                0,
                false,
                RequestId.of("request-1"),
                NEVER,
                NOW)));
    commit(begin("retrying"));
    commit(finish("retrying", Change.Finish.End.FAILED));
    commit(begin("firing"));
    commit(new Change.Cancel(key("firing"), 0, NOW));
    for (String id : List.of("leased", "ready")) {
      TimerRecord due = read(id);
      commit(new Change.MakeReady(due.key(), due.version(), due.revision(), epoch, NONE, NOW));
      if (id.equals("leased")) {
        store.lease(
            List.of(new LeaseRequest("shop", "orders", 1, NOW + 99)),
            1,
            NOW,
            () -> new ClaimToken(7, 8));
      }
    }
    commit(begin("failed"));
    commit(finish("failed", Change.Finish.End.EXHAUSTED).withTrace("a \ud83d\ude00\n\tat b"));
    TimerRecord blocked = read("blocked");
    commit(
        new Change.Park(
            blocked.key(), blocked.version(), blocked.revision(), epoch, "unknown handler", NOW));
    commit(new Change.Verb(key("paused"), Change.Verb.Command.PAUSE, 0, NOW));
    commit(begin("done"));
    commit(finish("done", Change.Finish.End.SUCCEEDED));
    commit(new Change.Cancel(key("cancelled"), 0, NOW));
    commit(begin("recurring"));
    commit(finish("recurring", Change.Finish.End.SUCCEEDED));
    commit(new Change.Verb(key("recurring"), Change.Verb.Command.RUN, 0, NOW + 1));
  }

  /** Returns a record that no store would create. */
  public static TimerRecord with(TimerRecord record, long revision, long fireAt) {
    return new TimerRecord(
        record.key(),
        record.version(),
        revision,
        record.state(),
        record.definition(),
        record.dueAt(),
        fireAt,
        record.runAt(),
        record.attempt(),
        record.runs(),
        record.claim(),
        record.former(),
        record.paused(),
        record.cancelRequested(),
        record.createdAt(),
        record.changedAt(),
        record.note(),
        record.trace(),
        record.attempts());
  }

  public List<TimerRecord> all() {
    return all(store);
  }

  public static List<TimerRecord> all(TimerStore store) {
    List<TimerRecord> all = new ArrayList<>();
    TimerQuery query =
        new TimerQuery(
            null, "", EnumSet.allOf(TimerState.class), Long.MIN_VALUE, NEVER, null, true);
    TimerKey after = null;
    do {
      var page = store.page(query, after, 1_000);
      all.addAll(page.records());
      after = page.next();
    } while (after != null);
    return all;
  }

  @Override
  public HandlerNames handlers() {
    return HandlerNames.NONE;
  }

  @Override
  public boolean ownsShards() {
    return true;
  }

  @Override
  public void known(HandlerNames ofLiveSessions) {}

  @Override
  public void ready(String handler) {}

  @Override
  public void paused(String scope) {}

  @Override
  public void acquired(int shard, long newEpoch) {
    epoch = newEpoch;
  }

  @Override
  public CompletionStage<Void> releasing(int shard) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public void lost(int shard) {}

  @Override
  public void added(int shard, long fireAt) {
    added.add(fireAt);
  }

  @Override
  public void ready(String namespace, String queue) {}
}
