// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.rows;

/** The id of a node, as messages and lists contain it. */
public final class NodeId {
  private NodeId() {}

  /** {@return the id of a node; its name alone while its incarnation is 0: it has no lease yet} */
  public static String of(String name, long incarnation) {
    if (incarnation == 0) {
      return name;
    }
    return (name.isEmpty() ? "node-" : name + "#") + incarnation;
  }
}
