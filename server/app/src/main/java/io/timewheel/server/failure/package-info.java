// SPDX-License-Identifier: Apache-2.0

/**
 * Events about failed timers for {@code --failed-webhook}. The entry is {@link
 * io.timewheel.server.failure.FailureEvents}. It stores each failure as a timer in its own queue,
 * so that a failure survives the process and is stored once. It claims from that queue, and posts
 * the claimed failures. {@code FailureWatch} reports failures in the commits of this node; a scan
 * of the failed timers finds the others.
 */
@NullMarked
package io.timewheel.server.failure;

import org.jspecify.annotations.NullMarked;
