// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import io.timewheel.server.problem.Names;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The namespaces that a view includes.
 *
 * @param namespaces the namespaces; null for all
 */
public record Scope(@Nullable Set<String> namespaces) {
  public static final Scope ALL = new Scope(null);

  /** {@return a namespace, if the caller may see it; for null, all namespaces of the caller} */
  public static Scope of(Caller caller, @Nullable String namespace) {
    if (namespace != null) {
      Authorization.checkNamespace(caller, Names.checked("namespace", namespace));
      return new Scope(Set.of(namespace));
    }
    return caller.namespaces().isEmpty() ? ALL : new Scope(caller.namespaces());
  }

  public boolean sees(String namespace) {
    return namespaces == null || namespaces.contains(namespace);
  }

  /** {@return the entries of a map for these namespaces, ordered by name} */
  public <V> NavigableMap<String, V> of(Map<String, V> byNamespace) {
    NavigableMap<String, V> seen = new TreeMap<>(byNamespace);
    seen.keySet().removeIf(namespace -> !sees(namespace));
    return seen;
  }
}
