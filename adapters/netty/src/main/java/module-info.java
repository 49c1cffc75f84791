// SPDX-License-Identifier: Apache-2.0

/** Any timer of this library as the timer of Netty. */
@SuppressWarnings("requires-automatic") // BlockHound is one
module io.timewheel.netty {
  requires transitive io.netty.common;
  requires transitive io.timewheel.core;
  requires static org.jspecify;
  requires static reactor.blockhound; // so it cannot be provided here; see the integration

  exports io.timewheel.netty;
}
