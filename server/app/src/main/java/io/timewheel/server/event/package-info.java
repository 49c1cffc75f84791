// SPDX-License-Identifier: Apache-2.0

/**
 * Streams of server-sent events. No class here depends on a connection. The entry is {@link
 * io.timewheel.server.event.EventStream}, the state of one client. {@code FeedSlices} shares
 * encoded changes between streams, and {@code EventMessage} encodes one event.
 */
@NullMarked
package io.timewheel.server.event;

import org.jspecify.annotations.NullMarked;
