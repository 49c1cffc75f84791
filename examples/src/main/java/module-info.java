// SPDX-License-Identifier: Apache-2.0

/** Programs that show the timers at work. */
module io.timewheel.examples {
  requires io.timewheel.core;
  requires java.management;
  requires static org.jspecify;
}
