// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Where durable timers are kept. An object of this type is one session: what one engine sees of the
 * data.
 *
 * <p>All methods may be called from any thread, block as long as they must, and throw {@link
 * StoreException}. What a method returned is never changed afterwards. {@code TimerStoreContract}
 * of the test kit is the bar for every store.
 *
 * <h2>Records and changes</h2>
 *
 * A store keeps one {@link TimerRecord} for each key, finished ones included until they are
 * forgotten. It changes it only as {@link Transitions} says, either by calling that class between
 * reading and writing the record under a lock, or by statements of the same effect.
 *
 * <h2>Shards and owners</h2>
 *
 * The shard of a key is {@link Shards#of}. Every shard has at most one owner, a session with an
 * epoch. An embedded store gives all shards to the session that opens it, with an epoch that is
 * larger than at any time before, and never takes them away.
 */
public interface TimerStore extends AutoCloseable {
  /** The name of the scope that is paused when everything is. */
  String EVERYTHING = "";

  /** {@return what an engine must know to use this store; never changes} */
  StoreTraits traits();

  /**
   * Begins the session: from now on the listener is told which shards it owns. Called once, or
   * never; the other methods may be called before it.
   *
   * @param listener the engine
   */
  void start(StoreListener listener);

  /**
   * Takes a batch of steps. Each is atomic by itself, together with its index entries and counters;
   * all that were taken are durable when this returns, but for {@link Change.Begin}. Steps of the
   * same key are taken in the order of the list. One session never has two batches under way that
   * hold changes of the same key.
   *
   * <p>The answer of a change with a {@link Change#request} is part of its step: it is found for as
   * long as it is not {@linkplain #forgetAnswers deleted}, however many requests follow.
   *
   * @param changes the steps; at least one, at most {@link StoreTraits#maxBatch()}
   * @return an outcome for each, in the same order
   * @throws StoreException if none of them, or with {@link StoreException.Kind#UNKNOWN} some of
   *     them, was taken
   */
  List<Outcome> commit(List<Change> changes);

  /**
   * Reads the due index: a consistent snapshot, taken after this call began, of entries of one
   * shard in the order of their positions.
   *
   * @param shard the shard
   * @param until only entries with a fire time before this one
   * @param after only entries behind this position; null to begin at the first
   * @param limit how many entries at most
   * @return the entries; fewer than {@code limit} only if there are no more
   */
  List<DueTimer> due(int shard, long until, @Nullable DuePosition after, int limit);

  /**
   * Looks for what other sessions have put into shards of this one. It is asked again and again, so
   * a store may leave out for a while what is long overdue, and which it has not found before.
   *
   * @param shards the shards
   * @param until only entries with a fire time before this one
   * @param limit how many entries of a shard at most: of all that are found there, those with the
   *     earliest fire times
   * @return the entries, those of a shard in the order of their fire times
   */
  default List<DueTimer> sweep(Collection<Integer> shards, long until, int limit) {
    List<DueTimer> found = new ArrayList<>();
    for (int shard : shards) {
      found.addAll(due(shard, until, null, limit));
    }
    return found;
  }

  /**
   * Lists timers of one shard that wait although they need not: blocked timers of known handlers,
   * and timers that a pause of their namespace held which is over. Finds them by an index: other
   * blocked, held or paused timers cost nothing.
   *
   * @param shard the shard
   * @param handlers the handlers whose blocked timers are listed
   * @param namespaces the namespaces whose held timers are listed
   * @param after only entries behind this one, in an order that the store chooses; null to begin at
   *     the first
   * @param limit how many entries at most
   * @return the entries, without a place in the due index; fewer than {@code limit} only if there
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
   * @return the record, of a finished timer too; null if there is none
   */
  @Nullable TimerRecord get(TimerKey key);

  /**
   * Reads many records, with as few calls of a database as it can. They are not of one moment.
   *
   * @param keys the timers, each once
   * @return the records that exist, of finished timers too. A store may leave out payload, headers
   *     and attempts
   * @throws StoreException with {@link StoreException.Kind#REJECTED} if one of them cannot be read.
   *     The others can be read without it
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
   * @param query which
   * @param after only behind this key; null to begin at the first
   * @param limit how many at most
   * @return a page
   */
  TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit);

  /**
   * Lists records of one namespace in another order. It may read all records of the namespace.
   *
   * @param query which; with a namespace
   * @param order the order
   * @param after only behind this position; null to begin at the first
   * @param limit how many at most
   * @return a page, without records only if it is the last one
   */
  TimerPage sorted(TimerQuery query, TimerOrder order, @Nullable DuePosition after, int limit);

  /**
   * Counts timers that wait for their time, SCHEDULED and RETRYING, by the time at which they fire.
   *
   * @param namespace only of this namespace, or null
   * @param bounds ascending times; bucket i reaches from bounds[i] up to, and without, bounds[i+1]
   * @return the exact count of each bucket, one fewer than there are bounds
   */
  long[] histogram(@Nullable String namespace, long[] bounds);

  /** {@return how many timers each namespace has in each state; what is missing is zero} */
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
   * Claims ready timers of queues, the longest ready of each queue first, as {@link
   * Transitions#lease} describes. The claims are durable when this method returns. Each timer is
   * claimed by one caller only, whatever the number of sessions.
   *
   * <p>A request with a {@linkplain LeaseRequest#limit limit} gets as many timers as the limit
   * admits, whatever the number of sessions.
   *
   * <p>An engine asks for 10,000 queues at once, most of which have nothing ready: the number of
   * statements must not grow with the empty queues. A store ends the list with the record that
   * brings its content to {@link PageBuilder#MAX_BYTES}.
   *
   * @param requests one for each queue; the store serves them in this order
   * @param limit the largest number of timers to claim of all queues together, 1 or more
   * @param nowMillis the time of the claims
   * @param tokens creates a token for each timer that is claimed
   * @return the complete records, those of a queue in their order; fewer than are ready only at the
   *     limit, or at that size
   */
  List<TimerRecord> lease(
      List<LeaseRequest> requests, int limit, long nowMillis, Supplier<ClaimToken> tokens);

  /**
   * Takes a permit of a limit that all sessions share, such as that of a host.
   *
   * @param name the name of the limit, 513 bytes at most
   * @param limit the limit
   * @param holder names the permit; unique
   * @param untilMillis when the permit ends by itself, if its holder has died
   * @param nowMillis the present time
   * @return 0 if the permit was taken, otherwise milliseconds after which to try again
   */
  long acquire(String name, SharedLimit limit, String holder, long untilMillis, long nowMillis);

  /**
   * Gives a permit back.
   *
   * @param name the name of the limit
   * @param holder names the permit
   */
  void release(String name, String holder);

  /**
   * Lists the handlers that have ready timers. An owner makes a due timer ready if other sessions
   * know its handler and its own engine does not; so a store of one owner has none.
   *
   * @param after only behind this name; null to begin at the first
   * @param limit how many names at most
   * @return the names in the order of their code points; fewer than {@code limit} only if there are
   *     no more
   */
  default List<String> readyHandlers(@Nullable String after, int limit) {
    return List.of();
  }

  /**
   * Claims ready timers of handlers, the longest ready first, as {@link #lease} does for queues.
   * Leaves out the timers of paused namespaces.
   *
   * @param wanted the handlers, and how many timers of each at most
   * @param untilMillis when the claim leases end
   * @param nowMillis the time of the claims
   * @param tokens creates a token for each claim
   * @return the complete records
   */
  default List<TimerRecord> leaseForHandlers(
      Map<String, Integer> wanted, long untilMillis, long nowMillis, Supplier<ClaimToken> tokens) {
    return List.of();
  }

  /**
   * Lets no attempt begin in a namespace until it is resumed. Timers are not changed by it; those
   * that become due are {@linkplain Outcome.Answer#HELD held}. Returns when each live session has
   * been {@linkplain StoreListener#paused told}, or has lost its shards: from then on no session
   * begins an attempt that it claimed before.
   *
   * <p>While a {@linkplain Scopes#queue queue} is paused, {@link #lease} claims none of its timers.
   * They become ready as before.
   *
   * @param scope the namespace, a queue, or {@link #EVERYTHING}
   * @return how many attempts of handlers run in the scope, in all sessions that were told
   * @throws StoreException with {@link StoreException.Kind#UNKNOWN} if the scope is paused, and a
   *     live session has not confirmed it in time
   */
  int pause(String scope);

  /**
   * Ends a pause. The engine then releases what was held.
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
   * Forgets finished timers: those that ended before a time, and the oldest of those above a
   * number. A later timer of the same key must still have a larger version.
   *
   * @param finishedBefore forget what finished before this time
   * @param keep how many finished timers to keep at most
   * @param limit how many to forget in this call at most
   * @return how many were forgotten; {@code limit} if there may be more
   */
  int forget(long finishedBefore, long keep, int limit);

  /**
   * Deletes the answers of requests that were answered before a time.
   *
   * @param answeredBefore the time
   * @param limit how many to delete in this call at most
   * @return how many were deleted; {@code limit} if there may be more
   */
  int forgetAnswers(long answeredBefore, int limit);

  /**
   * Whether this session still owns the shards that it was given, by its own clock. A process that
   * was suspended may find out too late otherwise. Asked before each attempt begins.
   *
   * @return false if its time is over, and other sessions may have taken its shards
   */
  default boolean isLive() {
    return true;
  }

  /**
   * How far the time of this store is ahead of the clock of this machine. All nodes of a shared
   * store keep its time.
   *
   * @return milliseconds to add; 0 where the machine's own clock decides
   */
  default long clockOffsetMillis() {
    return 0;
  }

  /**
   * Ends the session and gives up its shards, after the engine has drained. What is committed
   * stays. Idempotent.
   */
  @Override
  void close();
}
