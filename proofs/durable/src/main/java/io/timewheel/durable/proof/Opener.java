// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import java.nio.file.Path;

/** A process that opens a store and prints the result. */
final class Opener {
  static final String OPENED = "OPENED";
  static final String REFUSED = "REFUSED ";

  private Opener() {}

  public static void main(String[] args) {
    try (TimerStore store = Stores.open(Path.of(args[0]), Log.NONE)) {
      System.out.println(OPENED + " " + store.counts());
    } catch (StoreException e) {
      System.out.println(REFUSED + e.kind() + " " + e.getMessage());
    }
  }
}
