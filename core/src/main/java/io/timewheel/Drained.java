// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Collects the timeouts that a stop cancels, and returns them as a set.
 *
 * <p>Allocates everything before the first timeout is cancelled. If memory ran out halfway,
 * cancelled timeouts would be lost: neither notified nor returned. A stop that throws earlier can
 * be called again.
 */
class Drained implements Consumer<Node> {
  private final WheelTimeout[] timeouts;
  private final Set<Timeout> returned;
  private final Set<Timeout> answer;
  private int size;

  /** Allocates space for the given number of timeouts. */
  Drained(int capacity) {
    timeouts = new WheelTimeout[capacity];
    returned = Collections.newSetFromMap(new IdentityHashMap<>(capacity));
    answer = Collections.unmodifiableSet(returned);
  }

  /** Cancels a timeout, under the lock of its stripe. */
  @Override
  public void accept(Node node) {
    node.settle(WheelTimeout.CANCELLED);
    timeouts[size] = (WheelTimeout) node;
    size++;
  }

  int size() {
    return size;
  }

  /** Notifies each cancelled timeout, and returns them all. */
  Set<Timeout> answer(Callbacks callbacks) {
    for (int i = 0; i < size; i++) {
      returned.add(timeouts[i]);
      callbacks.cancelled(timeouts[i]);
    }
    return answer;
  }
}
