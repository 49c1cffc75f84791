// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/** Stands for the classes to come, because an exported package may not be empty. */
public final class Placeholder {
  private Placeholder() {}
}
