// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Whose timers a view takes in.
 *
 * @param namespaces only those of these namespaces; null for all
 */
record Scope(@Nullable Set<String> namespaces) {
  static final Scope ALL = new Scope(null);

  /** {@return what a caller may see of the namespace that the query names, or of all} */
  static Scope of(Caller caller, Query query) {
    String only = query.text("namespace");
    if (only != null) {
      caller.checkNamespace(Names.checked("namespace", only));
      return new Scope(Set.of(only));
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

  /** {@return how many timers wait for each span of a time} */
  long[] histogram(Reads reads, Instant from, Instant to, int buckets) {
    if (namespaces == null) {
      return reads.ask(timer -> timer.histogram(null, from, to, buckets));
    }
    long[] sums = new long[buckets];
    for (String namespace : namespaces) {
      long[] counts = reads.ask(timer -> timer.histogram(namespace, from, to, buckets));
      for (int i = 0; i < buckets; i++) {
        sums[i] += counts[i];
      }
    }
    return sums;
  }
}
