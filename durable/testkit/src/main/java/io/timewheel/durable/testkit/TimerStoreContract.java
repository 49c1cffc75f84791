// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static io.timewheel.durable.model.TimerState.CANCELLED;
import static io.timewheel.durable.model.TimerState.SCHEDULED;
import static io.timewheel.durable.spi.record.TimerRecord.NEVER;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.PageBuilder;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Verifies the contract of every store of durable timers. Extend it and supply an empty store. A
 * reopened session must own all shards under a new epoch.
 */
@Tag("promise-40")
public abstract class TimerStoreContract extends CopyContract {
  /** Called by the subclass. */
  protected TimerStoreContract() {}

  /**
   * Creates an empty store, not started yet.
   *
   * @return the store
   */
  @Override
  protected abstract TimerStore create();

  /**
   * Opens a new session on the data of a closed one, not started yet.
   *
   * @param closed the former session
   * @return the new one
   */
  @Override
  protected abstract TimerStore reopen(TimerStore closed);

  // Lookups

  @Test
  void sweepsShardsForTheEarliestTimers() {
    for (int i = 0; i < 40; i++) {
      commit(schedule(key("id-" + i), NOW + 7 * i % 40));
    }
    int shards = store.traits().shards();
    List<Integer> some =
        IntStream.range(0, shards).filter(i -> i == 0 || i % 2 == 1).boxed().toList();
    for (int limit : new int[] {3, 1_000}) {
      Map<Integer, List<DueTimer>> found =
          store.sweep(some, NOW + 30, limit).stream()
              .collect(Collectors.groupingBy(due -> Shards.of(due.key(), shards)));
      for (int shard = 0; shard < shards; shard++) {
        List<DueTimer> first =
            some.contains(shard) ? store.due(shard, NOW + 30, null, limit) : List.of();
        assertEquals(first, found.getOrDefault(shard, List.of()));
      }
    }
  }

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
  void sortsTheTimersOfANamespace() {
    List<Long> due = List.of(NOW + 5, NOW + 1, NOW + 5, NOW + 3);
    for (int i = 0; i < due.size(); i++) {
      TimerKey key = key("t" + i);
      commit(
          new Change.Schedule(
              key,
              definition("orders", i % 2 == 0, ""),
              due.get(i),
              false,
              Change.Condition.NONE,
              0,
              false,
              null,
              NEVER,
              NOW + (i == 3 ? 0 : i)));
    }
    commit(schedule(new TimerKey("zoo", "d"), NOW));
    commit(new Change.Cancel(key("t2"), 0, NOW + 10)); // may be in another table
    Map<TimerOrder, List<String>> expected =
        Map.of(
            TimerOrder.ID, List.of("t0", "t1", "t2", "t3"),
            TimerOrder.ID_DESCENDING, List.of("t3", "t2", "t1", "t0"),
            TimerOrder.CREATED, List.of("t0", "t3", "t1", "t2"),
            TimerOrder.CREATED_DESCENDING, List.of("t2", "t1", "t3", "t0"),
            TimerOrder.DUE, List.of("t1", "t3", "t0", "t2"),
            TimerOrder.DUE_DESCENDING, List.of("t2", "t0", "t3", "t1"));
    TimerQuery all = query("", EnumSet.allOf(TimerState.class));
    expected.forEach(
        (order, ids) -> {
          for (int limit = 1; limit <= 5; limit++) {
            assertEquals(ids, sorted(all, order, limit), order + " by " + limit);
          }
        });
    assertEquals(List.of("t3", "t1"), sorted(ofQueues(false), TimerOrder.ID_DESCENDING, 9));
    assertEquals(List.of("t2", "t0"), sorted(ofQueues(true), TimerOrder.ID_DESCENDING, 9));
    assertEquals(
        List.of(key("t1"), key("t3")),
        store.page(ofQueues(false), null, 9).records().stream().map(TimerRecord::key).toList());
  }

  private static TimerQuery ofQueues(boolean queues) {
    TimerQuery all = query("", EnumSet.allOf(TimerState.class));
    return new TimerQuery(
        all.namespace(),
        all.prefix(),
        all.states(),
        all.dueFrom(),
        all.dueTo(),
        null,
        queues,
        false);
  }

  private List<String> sorted(TimerQuery query, TimerOrder order, int limit) {
    List<String> ids = new ArrayList<>();
    DuePosition after = null;
    TimerPage page;
    do {
      page = store.sorted(query, order, after, limit);
      for (TimerRecord record : page.records()) {
        ids.add(record.key().id());
        after = order.position(record);
        if (query.payload()) {
          assertEquals(read(record.key()), record);
        }
      }
    } while (page.next() != null);
    return ids;
  }

  @Test
  void endsAPageThatHasManyBytes() {
    int size = 60_000;
    int count = 2 * PageBuilder.MAX_BYTES / size;
    for (int i = 0; i < count; i++) {
      byte[] payload = new byte[size];
      payload[0] = (byte) i;
      TimerDefinition definition = definition(payload);
      commit(
          schedule(key("id-%03d".formatted(i)), NOW, definition, Change.Condition.NONE, 0, null));
    }
    List<Integer> sizes = new ArrayList<>();
    int found = 0;
    TimerKey after = null;
    do {
      TimerPage page = store.page(all(true), after, 2 * count);
      for (TimerRecord record : page.records()) {
        assertEquals(key("id-%03d".formatted(found)), record.key());
        assertEquals((byte) found++, record.definition().payload()[0]);
      }
      sizes.add(page.records().size() * size);
      after = page.next();
    } while (after != null);
    assertEquals(count, found);
    sizes.forEach(bytes -> assertTrue(bytes < PageBuilder.MAX_BYTES + size, "bytes: " + bytes));
    TimerPage without = store.page(all(false), null, 2 * count);
    assertEquals(count, without.records().size());
    assertNull(without.next());
  }

  @Test
  void findsTimersThatMayBeReleased() {
    for (String handler : List.of("known", "other", "pre.a", "pre.b", "unknown")) {
      for (int i = 0; i < 4; i++) {
        TimerKey key = new TimerKey("ns" + i % 2, handler + i);
        TimerDefinition definition = definition(handler, false, "");
        commit(schedule(key, NOW, definition, Change.Condition.NONE, 0, null));
        TimerRecord record = read(key);
        commit(
            new Change.Park(
                key, record.version(), record.revision(), epoch(key), "no handler", NOW));
      }
    }
    for (String namespace : List.of("held", "paused")) {
      store.pause(namespace);
      for (int i = 0; i < 7; i++) {
        TimerKey key = new TimerKey(namespace, "id-" + i);
        commit(schedule(key, NOW));
        assertEquals(Answer.HELD, commit(begin(key)).answer());
      }
    }
    store.resume("held");
    for (String id : List.of("by-hand", "scheduled")) {
      commit(schedule(new TimerKey("held", id), NOW));
    }
    commit(new Change.Verb(new TimerKey("held", "by-hand"), Change.Verb.Command.PAUSE, 0, NOW));
    HandlerNames handlers = new HandlerNames(Set.of("known", "other", "none"), Set.of("pre."));
    Set<String> namespaces = Set.of("held", "nothing");
    for (int limit : new int[] {1, 3, 100}) {
      Set<TimerKey> found = new TreeSet<>();
      for (int shard = 0; shard < store.traits().shards(); shard++) {
        DueTimer after = null;
        List<DueTimer> page;
        do {
          page = store.releasable(shard, handlers, namespaces, after, limit);
          for (DueTimer timer : page) {
            assertEquals(read(timer.key()).due(), timer);
            assertEquals(shard, shard(timer.key()));
            assertTrue(found.add(timer.key()), timer + " comes twice");
            after = timer;
          }
        } while (page.size() == limit);
      }
      assertEquals(16 + 7, found.size());
      found.forEach(key -> assertTrue(!key.id().startsWith("unknown"), key.toString()));
      assertEquals(7, found.stream().filter(key -> key.namespace().equals("held")).count());
    }
    for (int shard = 0; shard < store.traits().shards(); shard++) {
      assertEquals(List.of(), store.releasable(shard, HandlerNames.NONE, Set.of(), null, 100));
    }
  }

  private static TimerQuery all(boolean payload) {
    return new TimerQuery(
        null, "", EnumSet.of(SCHEDULED), Long.MIN_VALUE, Long.MAX_VALUE, null, payload);
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
  void purgesFinishedTimersButKeepsTheirVersions() {
    long version = 0;
    for (String id : List.of("a", "b", "c")) {
      version = commit(schedule(key(id), NOW)).version();
      commit(new Change.Cancel(key(id), 0, NOW + id.charAt(0)));
    }
    commit(schedule(key("stays"), NOW));
    assertEquals(0, store.purge(NOW, 10, 100));
    assertEquals(1, store.purge(NOW, 2, 100));
    assertNull(store.get(key("a")));
    assertEquals(1, store.purge(NEVER, 10, 1));
    assertEquals(1, store.purge(NEVER, 10, 100));
    assertNotNull(store.get(key("stays")));
    assertTrue(commit(schedule(key("c"), NOW)).version() > version);
  }
}
