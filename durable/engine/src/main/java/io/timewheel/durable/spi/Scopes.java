// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.List;
import java.util.Set;

/**
 * The scopes that a store pauses and counts: all timers, a namespace, or a queue. The text of a
 * queue is its namespace, a line feed and its name. No name contains a control character, so the
 * texts of scopes never collide.
 */
public final class Scopes {
  private static final char SEPARATOR = '\n';

  private Scopes() {}

  /**
   * Returns the scope of a queue. While it is paused, no claim takes a timer of the queue.
   *
   * @param namespace the namespace of the queue
   * @param queue its name
   * @return the scope
   */
  public static String queue(String namespace, String queue) {
    return namespace + SEPARATOR + queue;
  }

  /**
   * Returns whether a scope is a queue.
   *
   * @param scope the scope
   * @return false if it is a namespace or everything
   */
  public static boolean isQueue(String scope) {
    return scope.indexOf(SEPARATOR) >= 0;
  }

  /**
   * Splits the scope of a queue.
   *
   * @param scope a scope that is a queue
   * @return its namespace, and its name as the id
   */
  public static TimerKey queueOf(String scope) {
    int separator = scope.indexOf(SEPARATOR);
    return new TimerKey(scope.substring(0, separator), scope.substring(separator + 1));
  }

  /**
   * Returns the text of a scope for messages.
   *
   * @param scope the scope
   * @return such as {@code queue shop/orders}
   */
  public static String describe(String scope) {
    if (isQueue(scope)) {
      TimerKey queue = queueOf(scope);
      return "queue " + queue.namespace() + "/" + queue.id();
    }
    return scope.equals(TimerStore.EVERYTHING) ? "everything" : scope;
  }

  /**
   * Returns the scopes that count a record: its namespace, and the queue of an unfinished timer.
   *
   * @param record the record
   * @return one or two scopes
   */
  public static List<String> counting(TimerRecord record) {
    String namespace = record.key().namespace();
    return record.definition().queue() && !record.state().isFinished()
        ? List.of(namespace, queue(namespace, record.definition().handler()))
        : List.of(namespace);
  }

  /**
   * Returns whether claims of a queue are paused: by the queue, its namespace or everything.
   *
   * @param paused the paused scopes, as {@link TimerStore#paused} returns them
   * @param namespace the namespace of the queue
   * @param queue its name
   * @return true if no timer of the queue can be claimed
   */
  public static boolean isQueuePaused(Set<String> paused, String namespace, String queue) {
    return TimerStore.isPaused(paused, namespace) || paused.contains(queue(namespace, queue));
  }
}
