// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.spi.record.HandlerNames;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The handlers that at least one live node has. They include the handlers of this engine, from its
 * creation on, and those of the other nodes, as the store reports them. No live node can run a
 * timer with another handler. All checks of handler names use this class.
 */
public final class KnownHandlers {
  private final Handlers handlers;

  /**
   * The handlers that the store has reported; null before that, when other nodes may have any
   * handler.
   */
  private volatile @Nullable HandlerNames reported;

  public KnownHandlers(Handlers handlers) {
    this.handlers = handlers;
  }

  public boolean contains(String handler) {
    HandlerNames ofLiveNodes = reported;
    return handlers.names().contains(handler)
        || (ofLiveNodes != null && ofLiveNodes.contains(handler));
  }

  /**
   * Returns whether a handler is unknown to all live nodes. False before the start and the first
   * report.
   */
  public boolean isUnknown(String handler) {
    return reported != null && !contains(handler);
  }

  public HandlerNames all() {
    HandlerNames ofLiveNodes = reported;
    return ofLiveNodes == null
        ? handlers.names()
        : HandlerNames.union(List.of(handlers.names(), ofLiveNodes));
  }

  /**
   * Sets the handlers of all live nodes, as the store reports them; none for a store of one owner.
   */
  public void report(HandlerNames ofLiveNodes) {
    reported = ofLiveNodes;
  }
}
