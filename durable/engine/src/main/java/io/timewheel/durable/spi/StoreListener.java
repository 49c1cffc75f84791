// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.spi.record.HandlerNames;
import java.util.concurrent.CompletionStage;

/**
 * The engine, as a store sees it. A store may call it from any thread; the calls for one shard come
 * in order. The methods return quickly and never throw.
 */
public interface StoreListener {
  /** {@return the handlers that the engine knows; they do not change once the session has begun} */
  HandlerNames handlers();

  /**
   * Returns whether the engine owns shards. A client does not: it schedules, lists and changes
   * timers, but fires none. A store of one owner has no clients.
   *
   * @return false for a client
   */
  boolean ownsShards();

  /**
   * Reports that the handlers of the live sessions have changed. The store calls it before the
   * session gets its first shard. A store of one owner never calls it.
   *
   * @param ofLiveSessions the handlers that at least one live session, including this one, knows
   */
  void known(HandlerNames ofLiveSessions);

  /**
   * Reports that this session owns a shard from now on. The store already refuses changes of the
   * former owner.
   *
   * @param shard the shard
   * @param epoch larger than the epoch of any earlier owner, and unique. It stays unique even if
   *     the database fails over to a server that lacks this take-over, and another session takes
   *     the shard there
   */
  void acquired(int shard, long epoch);

  /**
   * Announces that another session will get the shard. The engine begins no more attempts in it.
   *
   * @param shard the shard
   * @return completes when no attempt is running; the store waits for it only for a limited time
   */
  CompletionStage<Void> releasing(int shard);

  /**
   * Reports that this session no longer owns the shard, or cannot be sure that it does.
   *
   * @param shard the shard
   */
  void lost(int shard);

  /**
   * Reports that this session or another one paused a scope. The engine gives back the attempts of
   * the scope that are claimed but not started, and starts none that it claimed before this call.
   *
   * @param scope the namespace, a {@linkplain Scopes#queue queue}, or {@link TimerStore#EVERYTHING}
   */
  void paused(String scope);

  /**
   * Notifies the engine that another session has added a timer to the due index. The notification
   * may come late, twice, or not at all.
   *
   * @param shard the shard
   * @param fireAt the time of the timer in the due index
   */
  void added(int shard, long fireAt);

  /**
   * Notifies the engine that another session has made a timer of a queue ready.
   *
   * @param namespace the namespace of the queue
   * @param queue its name
   */
  void ready(String namespace, String queue);

  /**
   * Notifies the engine that another session, which does not know the handler, has made one of its
   * timers ready.
   *
   * @param handler the name of the handler
   */
  void ready(String handler);
}
