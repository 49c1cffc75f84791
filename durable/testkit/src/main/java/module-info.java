// SPDX-License-Identifier: Apache-2.0

/** Provides durable timers for tests, the contract of stores, and the checker of histories. */
module io.timewheel.durable.testkit {
  requires transitive io.timewheel.durable;
  requires transitive io.timewheel.testkit;
  requires static org.jspecify;
  // Only for the contract of stores, which stores extend.
  requires static org.junit.jupiter.api;

  exports io.timewheel.durable.testkit;

  // JUnit calls the tests of the contract, which are not public.
  opens io.timewheel.durable.testkit to
      org.junit.platform.commons;
}
