// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.HandlerNames;

/**
 * The handlers that at least one live node knows: those of this engine, from its first moment on,
 * and those of the other nodes, as the store reports them. A timer whose handler is not among them
 * has nobody to run it. Whoever checks the name of a handler before it is used asks this class.
 */
final class KnownHandlers {
  private final Lanes lanes;
  private volatile HandlerNames reported = HandlerNames.NONE;

  KnownHandlers(Lanes lanes) {
    this.lanes = lanes;
  }

  boolean contains(String handler) {
    return lanes.names().contains(handler) || reported.contains(handler);
  }

  /** Takes the store's report of the handlers of all live nodes. */
  void report(HandlerNames ofLiveNodes) {
    reported = ofLiveNodes;
  }
}
