// SPDX-License-Identifier: Apache-2.0

/**
 * Events about failed timers for {@code --failed-webhook}. The entry is {@link
 * io.timewheel.server.failure.FailureEvents}. It keeps each failure as a timer of a queue of its
 * own, so that a failure survives the process and is kept once, and claims from that queue what it
 * posts. {@code FailureWatch} notices failures in the commits of this node; a scan of the failed
 * timers finds the others.
 */
@NullMarked
package io.timewheel.server.failure;

import org.jspecify.annotations.NullMarked;
