// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.util.List;
import java.util.Map;

/**
 * The namespaces that have timers.
 *
 * @param namespaces the namespaces
 */
public record NamespacesAnswer(List<Namespace> namespaces) {
  /**
   * A namespace.
   *
   * @param namespace its name
   * @param paused whether it is paused
   * @param states the number of timers in each state
   */
  public record Namespace(String namespace, boolean paused, Map<String, Long> states) {}
}
