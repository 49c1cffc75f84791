// SPDX-License-Identifier: Apache-2.0

/** Any timer of this library as the timer of Netty. */
module io.timewheel.netty {
  requires transitive io.netty.common;
  requires transitive io.timewheel.core;
  requires static org.jspecify;

  exports io.timewheel.netty;
}
