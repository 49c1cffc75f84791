// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A queue in which owners take turns, independent of the number of their elements. Not thread-safe.
 */
public final class FairQueue<T> {
  private final Map<String, Queue<T>> byOwner = new LinkedHashMap<>();
  private int size;

  public void add(String owner, T element) {
    byOwner.computeIfAbsent(owner, same -> new ArrayDeque<>()).add(element);
    size++;
  }

  /** {@return the first element of the next owner; null if there is none} */
  public @Nullable T poll() {
    Iterator<Map.Entry<String, Queue<T>>> owners = byOwner.entrySet().iterator();
    if (!owners.hasNext()) {
      return null;
    }
    Map.Entry<String, Queue<T>> first = owners.next();
    String owner = first.getKey();
    Queue<T> elements = first.getValue();
    owners.remove();
    T element = elements.remove();
    if (!elements.isEmpty()) {
      byOwner.put(owner, elements); // behind the other owners
    }
    size--;
    return element;
  }

  /** {@return an element that matches; null if there is none} */
  public @Nullable T find(Predicate<T> fits) {
    return byOwner.values().stream().flatMap(Queue::stream).filter(fits).findFirst().orElse(null);
  }

  /** {@return whether the element was in the queue} */
  public boolean remove(String owner, T element) {
    Queue<T> elements = byOwner.get(owner);
    if (elements == null || !elements.remove(element)) {
      return false;
    }
    if (elements.isEmpty()) {
      byOwner.remove(owner);
    }
    size--;
    return true;
  }

  public int size() {
    return size;
  }

  public int size(String owner) {
    Queue<T> elements = byOwner.get(owner);
    return elements == null ? 0 : elements.size();
  }
}
