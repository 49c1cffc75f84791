// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

/** Starts six million timeouts. */
public final class SixMillion {
  private SixMillion() {}

  /**
   * Runs the example.
   *
   * @param args none
   */
  public static void main(String[] args) {
    System.out.println("Timewheel: six million timeouts are still to come.");
  }
}
