// SPDX-License-Identifier: Apache-2.0

/** Adapts any timer of this library to Netty. */
@SuppressWarnings("requires-automatic") // BlockHound is an automatic module
module io.timewheel.netty {
  requires transitive io.netty.common;
  requires transitive io.timewheel.core;
  requires static org.jspecify;
  requires static reactor.blockhound; // so there is no "provides"; see the integration

  exports io.timewheel.netty;
}
