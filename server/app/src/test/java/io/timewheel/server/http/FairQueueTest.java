// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FairQueueTest {
  private final FairQueue<String> queue = new FairQueue<>();

  private List<String> rest() {
    List<String> rest = new ArrayList<>();
    for (String next = queue.poll(); next != null; next = queue.poll()) {
      rest.add(next);
    }
    return rest;
  }

  @Test
  void ownersTakeTurns() {
    for (int i = 1; i <= 3; i++) {
      queue.add("a", "a" + i);
    }
    queue.add("b", "b1");
    queue.add("c", "c1");
    queue.add("c", "c2");
    assertThat(rest()).containsExactly("a1", "b1", "c1", "a2", "c2", "a3");
    assertThat(queue.size()).isZero();
  }

  @Test
  void findsAnElementOfAnyOwner() {
    queue.add("a", "a1");
    queue.add("b", "b1");
    assertThat(queue.find(element -> element.startsWith("b"))).isEqualTo("b1");
    assertThat(queue.find(element -> element.startsWith("c"))).isNull();
    assertThat(queue.size()).isEqualTo(2);
  }

  @Test
  void aRemovedElementHasNoTurn() {
    queue.add("a", "a1");
    queue.add("b", "b1");
    queue.add("b", "b2");
    assertThat(queue.remove("a", "a1")).isTrue();
    assertThat(queue.remove("a", "a1")).isFalse();
    assertThat(queue.remove("b", "b1")).isTrue();
    assertThat(queue.size()).isEqualTo(1);
    assertThat(queue.size("b")).isEqualTo(1);
    assertThat(queue.size("a")).isZero();
    assertThat(rest()).containsExactly("b2");
  }
}
