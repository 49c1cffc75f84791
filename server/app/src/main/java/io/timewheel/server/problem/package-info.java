// SPDX-License-Identifier: Apache-2.0

/**
 * Refusals of requests. The entry is {@link io.timewheel.server.problem.Problem}, the answer to a
 * request that fails. Its {@code Failure} carries it up to the exchange. {@code Names} refuses
 * names that cannot be in a path.
 */
@NullMarked
package io.timewheel.server.problem;

import org.jspecify.annotations.NullMarked;
