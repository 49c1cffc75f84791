// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import static java.util.Objects.requireNonNull;

/**
 * The identity of a durable timer. Keys are ordered by namespace, then by id, both by UTF-16 code
 * units.
 *
 * @param namespace the namespace of the timer
 * @param id unique within the namespace
 */
public record TimerKey(String namespace, String id) implements Comparable<TimerKey> {
  /**
   * Checks that neither part is null.
   *
   * @param namespace the namespace of the timer
   * @param id unique within the namespace
   */
  public TimerKey {
    requireNonNull(namespace, "namespace");
    requireNonNull(id, "id");
  }

  @Override
  public int compareTo(TimerKey other) {
    int byNamespace = namespace.compareTo(other.namespace);
    return byNamespace != 0 ? byNamespace : id.compareTo(other.id);
  }

  @Override
  public String toString() {
    return namespace + "/" + id;
  }
}
