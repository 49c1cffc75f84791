// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import java.util.concurrent.CompletionStage;

/**
 * The engine, as a store sees it. Calls come from any thread, are quick and never throw. For one
 * shard they come in order.
 */
public interface StoreListener {
  /** {@return the handlers that the engine knows; they do not change once the session has begun} */
  HandlerNames handlers();

  /**
   * Returns whether the engine takes shards. A client does not: it schedules, lists and changes
   * timers, and fires none. A store of one owner has no clients.
   *
   * @return false for a client
   */
  boolean ownsShards();

  /**
   * Sessions came or went: the handlers that live ones know have changed. Called before the session
   * is given its first shard. A store of one owner never calls it.
   *
   * @param ofLiveSessions the handlers that at least one live session knows, this one included
   */
  void known(HandlerNames ofLiveSessions);

  /**
   * This session owns a shard from now on. The former owner's changes are refused already.
   *
   * @param shard the shard
   * @param epoch larger than that of any owner before, and no other owner's: not even if the server
   *     of the store fails over to one that lacks this take-over, and another session takes the
   *     shard there
   */
  void acquired(int shard, long epoch);

  /**
   * The shard is to be given to another session: the engine begins no more attempts.
   *
   * @param shard the shard
   * @return completed when no attempt is running; the store waits for it only as long as it likes
   */
  CompletionStage<Void> releasing(int shard);

  /**
   * This session does not own the shard any longer, or cannot be sure of it.
   *
   * @param shard the shard
   */
  void lost(int shard);

  /**
   * A scope was paused, by this session or another one. The engine gives back the attempts of the
   * scope that are claimed and have not begun, and begins none that it claimed before this call.
   *
   * @param scope the namespace, a {@linkplain Scopes#queue queue}, or {@link TimerStore#EVERYTHING}
   * @return how many attempts of the scope run in handlers here
   */
  int paused(String scope);

  /**
   * A hint: another session has put something into the due index. It may come late, twice, or not
   * at all.
   *
   * @param shard the shard
   * @param fireAt the place in the due index
   */
  void added(int shard, long fireAt);

  /**
   * A hint: another session has made a timer of a queue ready.
   *
   * @param namespace the namespace of the queue
   * @param queue its name
   */
  void ready(String namespace, String queue);

  /**
   * A hint: another session has made a timer of a handler ready, whose handler it does not know.
   *
   * @param handler the name of the handler
   */
  void ready(String handler);
}
