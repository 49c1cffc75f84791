// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static io.timewheel.durable.rocksdb.Fixture.NOW;
import static io.timewheel.durable.spi.record.TimerRecord.NEVER;
import static io.timewheel.durable.spi.record.TimerRecord.NONE;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.testing.Seed;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Applies random changes in random batches, with restarts, and compares results, records and
 * indexes with those of the store in memory.
 */
@Tag("promise-38")
class ModelTest {
  private static final List<String> NAMESPACES = List.of("a", "ä\ud83d\ude00", "\uffff");

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void behavesLikeTheStoreInMemory(int run) {
    new Run(directory, new Random(Seed.get() + run)).run();
  }

  @Tag("proof")
  @ParameterizedTest
  @ValueSource(ints = {3, 4, 5, 6, 7, 8})
  void behavesLikeTheStoreInMemoryInOtherRuns(int run) {
    new Run(directory, new Random(Seed.get() + run)).run();
  }

  private static final class Run {
    private final Path directory;
    private final Random random;
    private final List<ClaimToken> tokens = new ArrayList<>();
    private InMemoryTimerStore memory = InMemoryTimerStore.create();
    private RocksTimerStore rocks;
    private long epoch;
    private long now = NOW;

    Run(Path directory, Random random) {
      this.directory = directory;
      this.random = random;
      start();
    }

    private void start() {
      // The modes differ only in the loss after a power cut, which this test does not simulate.
      SyncMode mode = random.nextInt(4) == 0 ? SyncMode.sync() : SyncMode.os();
      rocks = RocksTimerStore.builder(directory).sync(mode).open();
      epoch = new Fixture(memory).epoch;
      assertThat(new Fixture(rocks).epoch).isEqualTo(epoch);
    }

    void run() {
      for (int step = 0; step < 150; step++) {
        now += random.nextInt(20) - 2;
        switch (random.nextInt(14)) {
          case 0 -> restart();
          case 1 -> pauseOrResume();
          case 2 -> purge();
          case 3 -> lease();
          default -> commit();
        }
        compare();
      }
      assertThat(rocks.verify().texts()).isEmpty();
      rocks.close();
    }

    private void restart() {
      rocks.close();
      memory = memory.reopen();
      start();
    }

    private void pauseOrResume() {
      String scope = random.nextInt(5) == 0 ? "" : one(NAMESPACES);
      if (random.nextInt(3) == 0) {
        memory.pause(scope);
        rocks.pause(scope);
      } else {
        memory.resume(scope);
        rocks.resume(scope);
      }
    }

    private void purge() {
      long before = now - random.nextInt(300);
      int keep = random.nextInt(6);
      int limit = 1 + random.nextInt(4);
      assertThat(rocks.purge(before, keep, limit)).isEqualTo(memory.purge(before, keep, limit));
      assertThat(rocks.purgeAnswers(before, limit)).isEqualTo(memory.purgeAnswers(before, limit));
    }

    private void lease() {
      List<LeaseRequest> requests =
          NAMESPACES.stream()
              .filter(namespace -> random.nextBoolean())
              .map(namespace -> new LeaseRequest(namespace, "q", 1 + random.nextInt(2), now + 50))
              .toList();
      int limit = 1 + random.nextInt(3);
      List<ClaimToken> used = Stream.generate(this::newToken).limit(limit).toList();
      assertThat(rocks.lease(requests, limit, now, used.iterator()::next))
          .isEqualTo(memory.lease(requests, limit, now, used.iterator()::next));
    }

    private void commit() {
      List<Change> changes = new ArrayList<>();
      for (int i = 1 + random.nextInt(8); i > 0; i--) {
        changes.add(change());
      }
      List<Outcome> expected = memory.commit(changes);
      List<Outcome> actual = rocks.commit(changes);
      for (int i = 0; i < changes.size(); i++) {
        assertThat(actual.get(i).answer())
            .as("%s", changes.get(i))
            .isEqualTo(expected.get(i).answer());
        assertThat(actual.get(i).version()).isEqualTo(expected.get(i).version());
        if (changes.get(i) instanceof Change.Begin) {
          assertThat(actual.get(i).record()).isEqualTo(expected.get(i).record());
        }
      }
    }

    private Change change() {
      TimerKey key = new TimerKey(one(NAMESPACES), "id" + random.nextInt(5));
      TimerRecord known = memory.get(key);
      boolean stale = random.nextInt(10) == 0;
      long version = known == null ? 5 : known.version() - (stale ? 1 : 0);
      long revision = known == null ? 0 : known.revision();
      long any = random.nextInt(3) == 0 ? version : 0;
      long owner = random.nextInt(20) == 0 ? epoch - 1 : epoch;
      return switch (random.nextInt(10)) {
        case 0, 1 -> schedule(key, version);
        case 2, 3 -> new Change.Begin(key, version, revision, owner, newToken(), NONE, now);
        case 4, 5 -> finish(key, known, owner);
        case 6 -> new Change.MakeReady(key, version, revision, owner, NONE, now);
        case 7 ->
            random.nextBoolean()
                ? new Change.Cancel(key, any, request(), now)
                : new Change.Move(key, any, now + random.nextInt(90), request(), now);
        case 8 ->
            new Change.Verb(key, one(List.of(Change.Verb.Command.values())), any, request(), now);
        default ->
            random.nextBoolean()
                ? new Change.Park(key, version, revision, owner, "unknown", now)
                : new Change.Skip(key, version, revision, owner, now + 40, now);
      };
    }

    private @Nullable RequestId request() {
      return random.nextInt(3) == 0
          ? new RequestId("request-" + random.nextInt(9), random.nextInt(9) == 0 ? "other" : "")
          : null;
    }

    private Change schedule(TimerKey key, long version) {
      int payload = random.nextInt(3) == 0 ? 5_000 : 3;
      return new Change.Schedule(
          key,
          Fixture.definition(random.nextBoolean(), "q", payload, random.nextInt(3) == 0),
          now + random.nextInt(100) - 20,
          random.nextInt(4) == 0,
          one(List.of(Change.Condition.values())),
          version,
          random.nextInt(4) == 0,
          request(),
          random.nextInt(3) == 0 ? 3 : NEVER,
          now);
    }

    private Change finish(TimerKey key, TimerRecord known, long owner) {
      boolean own = known != null && known.claim() != null && random.nextInt(6) > 0;
      ClaimToken token = own ? known.claim().token() : tokens.isEmpty() ? newToken() : one(tokens);
      if (random.nextInt(8) == 0) {
        return new Change.Extend(key, token, now + 60, now);
      }
      Change.Finish.End end = one(List.of(Change.Finish.End.values()));
      // A run ends only with these outcomes; a retry has a time.
      boolean last = end == Change.Finish.End.SUCCEEDED || end == Change.Finish.End.EXHAUSTED;
      return new Change.Finish(
          key,
          token,
          random.nextInt(3) == 0 ? 0 : owner,
          end,
          last && random.nextInt(3) == 0 ? NEVER : now + random.nextInt(50),
          random.nextBoolean() ? "no luck" : null,
          now);
    }

    private ClaimToken newToken() {
      ClaimToken token = new ClaimToken(epoch, random.nextLong());
      tokens.add(token);
      return token;
    }

    private <T> T one(List<T> of) {
      return of.get(random.nextInt(of.size()));
    }

    private void compare() {
      assertThat(Fixture.all(rocks)).isEqualTo(Fixture.all(memory));
      assertThat(rocks.counts()).isEqualTo(memory.counts());
      assertThat(rocks.paused()).isEqualTo(memory.paused());
      assertThat(rocks.due(0, NEVER, null, 99)).isEqualTo(memory.due(0, NEVER, null, 99));
      var some = memory.due(0, now + 30, null, 2);
      if (!some.isEmpty()) {
        var after = some.get(some.size() - 1).position();
        assertThat(rocks.due(0, now + 60, after, 3)).isEqualTo(memory.due(0, now + 60, after, 3));
      }
      long[] bounds = {now - 50, now - 10, now, now + 10, now + 200};
      assertThat(rocks.histogram("a", bounds)).isEqualTo(memory.histogram("a", bounds));
      assertThat(rocks.histogram(null, bounds)).isEqualTo(memory.histogram(null, bounds));
      Set<TimerState> states = EnumSet.of(one(List.of(TimerState.values())), TimerState.RUNNING);
      TimerQuery query =
          new TimerQuery(one(NAMESPACES), "id", states, now - 20, now + 50, "q", true);
      TimerKey after = new TimerKey(one(NAMESPACES), "id1");
      assertThat(rocks.page(query, after, 99)).isEqualTo(memory.page(query, after, 99));
      assertThat(rocks.page(query, null, 99)).isEqualTo(memory.page(query, null, 99));
    }
  }
}
