// SPDX-License-Identifier: Apache-2.0

/**
 * Streams of server-sent events; no class here knows a connection. The entry is {@link
 * io.timewheel.server.event.EventStream}, the state of one client. {@code FeedSlices} shares
 * encoded changes between streams, and {@code EventMessage} is one event as bytes.
 */
@NullMarked
package io.timewheel.server.event;

import org.jspecify.annotations.NullMarked;
