// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/**
 * The handlers that one or more engines know: handlers with a fixed name, and handlers for every
 * name with a prefix.
 *
 * @param names the names
 * @param prefixes the prefixes
 */
public record HandlerNames(Set<String> names, Set<String> prefixes) {
  /** No handlers. */
  public static final HandlerNames NONE = new HandlerNames(Set.of(), Set.of());

  /**
   * Copies the sets.
   *
   * @param names the names
   * @param prefixes the prefixes
   */
  public HandlerNames {
    names = Set.copyOf(names);
    prefixes = Set.copyOf(prefixes);
  }

  /**
   * Returns whether these handlers include a name.
   *
   * @param handler its name
   * @return true if its name is one of the names, or begins with one of the prefixes
   */
  public boolean contains(String handler) {
    return names.contains(handler) || prefixes.stream().anyMatch(handler::startsWith);
  }

  /**
   * Returns the union of the handlers of several engines.
   *
   * @param all the handlers of each engine
   * @return the handlers that at least one of the engines knows
   */
  public static HandlerNames union(Collection<HandlerNames> all) {
    Set<String> names = new HashSet<>();
    Set<String> prefixes = new HashSet<>();
    for (HandlerNames each : all) {
      names.addAll(each.names);
      prefixes.addAll(each.prefixes);
    }
    return new HandlerNames(names, prefixes);
  }
}
