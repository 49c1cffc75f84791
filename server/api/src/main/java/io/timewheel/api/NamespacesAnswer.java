// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A page of the namespaces that have timers.
 *
 * @param namespaces the namespaces
 * @param nextPageToken the token of the next page; absent on the last page
 */
public record NamespacesAnswer(List<Namespace> namespaces, @Nullable String nextPageToken) {
  /**
   * A namespace.
   *
   * @param namespace its name
   * @param paused whether it is paused
   * @param states the number of timers in each state
   */
  public record Namespace(String namespace, boolean paused, Map<String, Long> states) {}
}
