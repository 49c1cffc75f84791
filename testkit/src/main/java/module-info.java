// SPDX-License-Identifier: Apache-2.0

/** Timers for tests: time moves only when a test moves it. */
module io.timewheel.testkit {
  requires transitive io.timewheel.core;
  requires static org.jspecify;
  // Only for the contract test, which its users extend; the manual timer does not need it.
  requires static org.junit.jupiter.api;

  exports io.timewheel.testkit;

  // JUnit calls the tests of the contract, which are not public.
  opens io.timewheel.testkit to
      org.junit.platform.commons;
}
