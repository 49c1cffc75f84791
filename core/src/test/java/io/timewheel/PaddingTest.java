// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openjdk.jol.info.ClassLayout;
import org.openjdk.jol.info.FieldLayout;

/**
 * Verifies that this JVM lays out padded objects as the padding assumes. A JVM may choose any
 * layout.
 */
class PaddingTest {
  private static final int LINE_BYTES = 64;

  @ParameterizedTest
  @ValueSource(classes = {Stripe.class, HierarchicalWheel.class, HashedWheel.class, WakeUp.class})
  void noFieldSharesALineWithTheObjectBefore(Class<?> padded) {
    assertThat(used(padded))
        .allSatisfy(field -> assertThat(field.offset()).isGreaterThanOrEqualTo(2 * LINE_BYTES));
  }

  @ParameterizedTest
  @ValueSource(classes = {Stripe.class, HierarchicalWheel.class})
  void noFieldSharesALineWithTheObjectBehind(Class<?> padded) {
    assertThat(used(padded)).allSatisfy(field -> assertRoomBehind(field, padded));
  }

  @Test
  void noTwoSlotsShareALine() {
    assertThat(used(Slot.class)).allSatisfy(field -> assertRoomBehind(field, Slot.class));
  }

  private static void assertRoomBehind(FieldLayout field, Class<?> padded) {
    assertThat(ClassLayout.parseClass(padded).instanceSize() - field.offset() - field.size())
        .isGreaterThanOrEqualTo(LINE_BYTES - 8); // the next object begins with a header
  }

  private static List<FieldLayout> used(Class<?> padded) {
    return ClassLayout.parseClass(padded).fields().stream()
        .filter(field -> !field.hostClass().equals(Padding.class.getName()))
        .filter(field -> !field.name().matches("[pt][0-7]{2}"))
        .toList();
  }
}
