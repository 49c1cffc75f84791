// SPDX-License-Identifier: Apache-2.0

/**
 * The work of this process. The entry is {@link io.timewheel.server.node.Node}, which wraps the
 * store in a {@code WatchedStore}. The wrapper records each commit as a change in the {@code
 * ChangeFeed} and in the counts of {@code NamespaceTraffic}.
 */
@NullMarked
package io.timewheel.server.node;

import org.jspecify.annotations.NullMarked;
