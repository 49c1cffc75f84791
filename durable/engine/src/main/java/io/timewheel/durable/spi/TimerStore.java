// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.maintenance.IncompleteExportException;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.durable.spi.record.Transitions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Stores durable timers. An object of this type is one session: the view of one engine on the data.
 *
 * <p>All methods are thread-safe, block until they are done, and throw {@link StoreException}. A
 * returned object never changes afterwards. Every store must pass {@code TimerStoreContract} of the
 * test kit.
 *
 * <h2>Records and changes</h2>
 *
 * A store keeps one {@link TimerRecord} for each key, including finished ones until they are
 * purged. It changes a record only as {@link Transitions} defines. Either it calls that class
 * between reading and writing the record under a lock, or it uses statements with the same effect.
 *
 * <h2>Shards and owners</h2>
 *
 * The shard of a key is {@link Shards#of}. Every shard has at most one owner, a session with an
 * epoch. An embedded store gives all shards to the session that opens it, and never takes them
 * away. The epoch is larger than all earlier ones.
 */
public interface TimerStore extends ChangeStore, AutoCloseable {
  /** The name of the scope that includes all timers. */
  String EVERYTHING = "";

  /** {@return the properties of this store; they never change} */
  StoreTraits traits();

  /**
   * Begins the session: from now on the store reports to the listener which shards it owns. The
   * engine calls this at most once. It may call the other methods before it.
   *
   * @param listener the engine
   */
  void start(StoreListener listener);

  /**
   * Reads the due index: a consistent snapshot of the entries of one shard in the order of their
   * positions, taken after this call began.
   *
   * @param shard the shard
   * @param until only entries with an earlier fire time
   * @param after only entries after this position; null to begin at the first
   * @param limit the largest number of entries
   * @return the entries; fewer than {@code limit} only if there are no more
   */
  List<DueTimer> due(int shard, long until, @Nullable DuePosition after, int limit);

  /**
   * Finds timers that other sessions have added to the shards of this one. The engine calls it
   * repeatedly, so a store may omit for a while timers that are long overdue and that it has not
   * found before.
   *
   * @param shards the shards
   * @param until only entries with an earlier fire time
   * @param limit the largest number of entries of a shard; those with the earliest fire times are
   *     returned
   * @return the entries; those of one shard in the order of their fire times
   */
  default List<DueTimer> sweep(Collection<Integer> shards, long until, int limit) {
    List<DueTimer> found = new ArrayList<>();
    for (int shard : shards) {
      found.addAll(due(shard, until, null, limit));
    }
    return found;
  }

  /**
   * Lists timers of one shard that no longer need to wait: blocked timers whose handler is now
   * known, and held timers whose namespace was resumed. Uses an index, so that other blocked, held
   * or paused timers cost nothing.
   *
   * @param shard the shard
   * @param handlers the handlers whose blocked timers are listed
   * @param namespaces the namespaces whose held timers are listed
   * @param after only entries after this one, in an order that the store chooses; null to begin at
   *     the first
   * @param limit the largest number of entries
   * @return the entries, without a time in the due index; fewer than {@code limit} only if there
   *     are no more
   */
  List<DueTimer> releasable(
      int shard,
      HandlerNames handlers,
      Set<String> namespaces,
      @Nullable DueTimer after,
      int limit);

  /**
   * Reads a record.
   *
   * @param key the timer
   * @return the record, also of a finished timer; null if there is none
   */
  @Nullable TimerRecord get(TimerKey key);

  /**
   * Reads many records with few database calls. They are not a consistent snapshot.
   *
   * @param keys the timers, each once
   * @return the records that exist, also of finished timers. A store may omit payload, headers and
   *     attempts
   * @throws StoreException with {@link StoreException.Kind#REJECTED} if one of them cannot be read.
   *     The others can be read in another call
   */
  default Map<TimerKey, TimerRecord> read(Collection<TimerKey> keys) {
    Map<TimerKey, TimerRecord> found = new HashMap<>();
    for (TimerKey key : keys) {
      TimerRecord record = get(key);
      if (record != null) {
        found.put(key, record);
      }
    }
    return found;
  }

  /**
   * Lists records in the order of namespace and id.
   *
   * @param query selects the records
   * @param after only records after this key; null to begin at the first
   * @param limit the largest number of records
   * @return a page
   */
  TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit);

  /**
   * Lists records of one namespace in another order. It may read all records of the namespace.
   *
   * @param query selects the records; it must have a namespace
   * @param order the order
   * @param after only records after this position; null to begin at the first
   * @param limit the largest number of records
   * @return a page; only the last one can be empty
   */
  TimerPage sorted(TimerQuery query, TimerOrder order, @Nullable DuePosition after, int limit);

  /**
   * Counts the SCHEDULED and RETRYING timers by fire time.
   *
   * @param namespace only of this namespace, or null
   * @param bounds ascending times; bucket i includes bounds[i] and excludes bounds[i+1]
   * @return the exact count of each bucket, one fewer than there are bounds
   */
  long[] histogram(@Nullable String namespace, long[] bounds);

  /** {@return the number of timers of each namespace in each state; a missing entry is zero} */
  Map<String, Map<TimerState, Long>> counts();

  /**
   * Counts the unfinished timers of each queue. Reads counters, not timers.
   *
   * @param namespace only the queues of this namespace, or null
   * @return the number in each state, for each queue with unfinished timers. A key is the namespace
   *     and the name of a queue
   */
  Map<TimerKey, Map<TimerState, Long>> queueCounts(@Nullable String namespace);

  /**
   * Reads when the longest ready timer of each queue became ready.
   *
   * @param queues the namespaces and names of queues
   * @return milliseconds since 1970, for each of these queues with a ready timer
   */
  Map<TimerKey, Long> readySince(Collection<TimerKey> queues);

  /**
   * Claims ready timers of queues and handlers, as {@link Transitions#lease} describes. The timers
   * that have been ready longest come first in each queue, and of each handler in all namespaces
   * that are not paused. The claims are durable when this method returns. Only one caller claims
   * each timer, whatever the number of sessions.
   *
   * <p>A request with a {@linkplain LeaseRequest#limit limit} gets as many timers as the limit
   * admits, whatever the number of sessions.
   *
   * <p>An engine may ask for 10,000 queues at once, most of them without ready timers. So the
   * number of statements must not grow with the number of empty queues. A store ends the list with
   * the record that brings its content to {@link PageBuilder#MAX_BYTES}.
   *
   * @param requests one for each queue and each handler; the store serves them in this order, and
   *     may serve the queues first
   * @param limit the largest number of timers to claim together, 1 or more
   * @param nowMillis the time of the claims
   * @param tokens creates a token for each timer that is claimed
   * @return the complete records, those of a request in order; fewer than are ready only if the
   *     limit or the size was reached
   */
  List<TimerRecord> lease(
      List<LeaseRequest> requests, int limit, long nowMillis, Supplier<ClaimToken> tokens);

  /**
   * Takes a permit of a limit that all sessions share, such as that of a host.
   *
   * @param name the name of the limit, 513 bytes at most
   * @param limit the limit
   * @param holder a unique name of the permit
   * @param untilMillis the expiry of the permit, in case its holder crashes
   * @param nowMillis the present time
   * @return 0 if the permit was taken, otherwise the time to wait before the next try, in
   *     milliseconds
   */
  long acquire(String name, SharedLimit limit, String holder, long untilMillis, long nowMillis);

  /**
   * Gives a permit back.
   *
   * @param name the name of the limit
   * @param holder the name of the permit
   */
  void release(String name, String holder);

  /**
   * Lists the handlers that have ready timers. An owner makes a due timer ready if other sessions
   * know its handler and its own engine does not. A store of one owner therefore has none.
   *
   * @param after only names after this one; null to begin at the first
   * @param limit the largest number of names
   * @return the names in the order of their code points; fewer than {@code limit} only if there are
   *     no more
   */
  default List<String> readyHandlers(@Nullable String after, int limit) {
    return List.of();
  }

  /**
   * Pauses a scope. After the call, no claim of its timers commits until it is resumed. The call
   * changes no timers; those that become due are {@linkplain Outcome.Answer#HELD held}. Each
   * session is {@linkplain StoreListener#paused notified} within a second, or at the latest before
   * it is {@linkplain #isLive live} again. A session may start attempts that it claimed before.
   *
   * <p>While a {@linkplain Scopes#queue queue} is paused, {@link #lease} claims none of its timers.
   * They become ready as before.
   *
   * @param scope the namespace, a queue, or {@link #EVERYTHING}
   */
  void pause(String scope);

  /**
   * Ends a pause. The engine then releases the held timers.
   *
   * @param scope the namespace, a queue, or {@link #EVERYTHING}
   */
  void resume(String scope);

  /**
   * {@return whether a namespace is paused, by itself or with everything}
   *
   * @param paused the paused namespaces, as {@link #paused} returns them
   * @param namespace the namespace
   */
  static boolean isPaused(Set<String> paused, String namespace) {
    return paused.contains(namespace) || paused.contains(EVERYTHING);
  }

  /** {@return the namespaces and queues that are paused; {@link #EVERYTHING} if all are} */
  Set<String> paused();

  /**
   * Purges finished timers: those that ended before a time, and the oldest ones if there are more
   * than a given number. A later timer of the same key must still have a larger version.
   *
   * @param finishedBefore purge timers that finished before this time
   * @param keep the largest number of finished timers to retain
   * @param limit the largest number of timers to purge in this call
   * @return the number of purged timers; {@code limit} if there may be more
   */
  int purge(long finishedBefore, long keep, int limit);

  /**
   * Deletes the answers of requests that were answered before a time.
   *
   * @param answeredBefore the time
   * @param limit the largest number to delete in this call
   * @return the number of deleted answers; {@code limit} if there may be more
   */
  int purgeAnswers(long answeredBefore, int limit);

  /**
   * Reads all timers as of one moment, while sessions work on. Answers of requests are not part of
   * it.
   *
   * @param sink takes the pauses and the timers. The store calls its methods in order
   * @throws IncompleteExportException after the end, if some timers cannot be read
   * @throws UnsupportedOperationException if the store cannot be copied
   */
  default void copyTo(TimerSink sink) {
    throw new UnsupportedOperationException("this store cannot be copied");
  }

  /**
   * Prepares for {@link #importTimers}: adds pauses, and makes all versions that the store assigns
   * from now on exceed a given one.
   *
   * @param lastVersion the version that they must exceed
   * @param paused scopes to pause
   * @throws StoreException with {@link StoreException.Kind#REJECTED} if other sessions own shards
   * @throws UnsupportedOperationException if the store cannot import
   */
  default void beginImport(long lastVersion, Set<String> paused) {
    throw new UnsupportedOperationException("this store cannot import timers");
  }

  /**
   * Ends an import. A store may refuse {@link #start} between {@link #beginImport} and this call,
   * because it lacks timers.
   */
  default void endImport() {}

  /**
   * Writes timers with their state, version and revision, together with their index entries and
   * counters. A stored timer is replaced only if it is {@linkplain CopiedTimer#isNewerThan older}.
   * So a repeated call changes nothing. New versions exceed all imported ones.
   *
   * @param timers the timers; at most {@link StoreTraits#maxBatch()}
   * @return the number of timers that were written
   * @throws StoreException if none was written. With {@link StoreException.Kind#UNKNOWN}, either
   *     all or none were written. With {@link StoreException.Kind#REJECTED}, other sessions own
   *     shards
   * @throws UnsupportedOperationException if the store cannot import
   */
  default int importTimers(List<CopiedTimer> timers) {
    throw new UnsupportedOperationException("this store cannot import timers");
  }

  /**
   * Returns whether this session still owns its shards, by its own clock. The engine checks it
   * before each attempt, because a process that was suspended would otherwise find out too late.
   *
   * @return false if its node lease has expired and other sessions may have taken its shards
   */
  default boolean isLive() {
    return true;
  }

  /**
   * Returns how far the clock of this store is ahead of the clock of this machine. All nodes of a
   * shared store use the clock of the store.
   *
   * @return the milliseconds to add; 0 if the store uses the clock of the machine
   */
  default long clockOffsetMillis() {
    return 0;
  }

  /**
   * Ends the session and gives up its shards. The engine calls it after its own work has ended.
   * Committed changes stay. Idempotent.
   */
  @Override
  void close();
}
