// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/** A minimal entry of a wheel. */
final class BareNode extends Node {
  BareNode(long deadlineNanos) {
    super(deadlineNanos);
  }

  @Override
  int touch() {
    return place();
  }
}
