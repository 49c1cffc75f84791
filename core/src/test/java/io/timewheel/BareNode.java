// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/** All that a wheel needs to know of what it keeps. */
final class BareNode extends Node {
  BareNode(long deadlineNanos) {
    super(deadlineNanos);
  }
}
