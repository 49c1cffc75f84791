// SPDX-License-Identifier: Apache-2.0

/**
 * The JSON of the HTTP API as records: requests, answers and events, with the names and the order
 * of their fields. The entry is {@link io.timewheel.api.ApiJson}, the configuration of Jackson that
 * reads and writes them. A component that may be absent is marked {@code @Nullable}; absent
 * components are not written.
 *
 * <p>Then read {@link io.timewheel.api.TimerRequest} and {@link io.timewheel.api.TimerAnswer}. The
 * records check nothing: the server does.
 */
@NullMarked
package io.timewheel.api;

import org.jspecify.annotations.NullMarked;
