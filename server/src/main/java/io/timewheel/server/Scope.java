// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The namespaces that a view includes.
 *
 * @param namespaces the namespaces; null for all
 */
record Scope(@Nullable Set<String> namespaces) {
  static final Scope ALL = new Scope(null);

  /** {@return the part of a namespace that a caller may see; of all namespaces for null} */
  static Scope of(Caller caller, @Nullable String namespace) {
    if (namespace != null) {
      Authorization.checkNamespace(caller, Names.checked("namespace", namespace));
      return new Scope(Set.of(namespace));
    }
    return caller.namespaces().isEmpty() ? ALL : new Scope(caller.namespaces());
  }

  boolean sees(String namespace) {
    return namespaces == null || namespaces.contains(namespace);
  }

  /** {@return what a map has of these namespaces, in the order of their names} */
  <V> Map<String, V> of(Map<String, V> byNamespace) {
    Map<String, V> seen = new TreeMap<>(byNamespace);
    seen.keySet().removeIf(namespace -> !sees(namespace));
    return seen;
  }
}
