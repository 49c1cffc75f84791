// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.rows;

/** Formats the id of a node for messages and lists. */
public final class NodeId {
  private NodeId() {}

  /**
   * {@return the id of a node; only its name while its incarnation is 0, as it has no node lease
   * yet}
   */
  public static String of(String name, long incarnation) {
    if (incarnation == 0) {
      return name;
    }
    return (name.isEmpty() ? "node-" : name + "#") + incarnation;
  }
}
