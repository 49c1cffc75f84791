// SPDX-License-Identifier: Apache-2.0

/** Example programs that use the timers. */
@SuppressWarnings("requires-automatic") // most libraries are automatic modules
module io.timewheel.examples {
  requires io.timewheel.core;
  requires static com.github.benmanes.caffeine;
  requires static dev.failsafe.core;
  requires static io.github.resilience4j.retry;
  requires static io.github.resilience4j.timelimiter;
  requires static org.jspecify;
  requires static reactor.core;
  requires static spring.context;
}
