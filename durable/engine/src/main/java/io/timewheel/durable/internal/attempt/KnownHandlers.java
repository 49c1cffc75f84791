// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.spi.HandlerNames;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The handlers that at least one live node knows: those of this engine, from its first moment on,
 * and those of the other nodes, as the store reports them. No live node can run a timer whose
 * handler is not among them. All checks of handler names use this class.
 */
public final class KnownHandlers {
  private final Handlers handlers;

  /** Null until the store has reported: until then, other nodes may know a handler. */
  private volatile @Nullable HandlerNames reported;

  public KnownHandlers(Handlers handlers) {
    this.handlers = handlers;
  }

  public boolean contains(String handler) {
    HandlerNames ofLiveNodes = reported;
    return handlers.names().contains(handler)
        || (ofLiveNodes != null && ofLiveNodes.contains(handler));
  }

  /** Whether no live node knows a handler. False before the start, and before the first report. */
  public boolean isUnknown(String handler) {
    return reported != null && !contains(handler);
  }

  /** All of them. */
  public HandlerNames all() {
    HandlerNames ofLiveNodes = reported;
    return ofLiveNodes == null
        ? handlers.names()
        : HandlerNames.union(List.of(handlers.names(), ofLiveNodes));
  }

  /** Takes the store's report of the handlers of all live nodes; none, if it has one owner. */
  public void report(HandlerNames ofLiveNodes) {
    reported = ofLiveNodes;
  }
}
