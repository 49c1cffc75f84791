// SPDX-License-Identifier: Apache-2.0

/**
 * Traces of requests and deliveries, by <a href="https://www.w3.org/TR/trace-context/">W3C Trace
 * Context</a>. The entry is {@link io.timewheel.server.trace.Tracing}: it keeps the {@code
 * traceparent} of a request for the timer, and makes spans if OpenTelemetry's API, an optional
 * dependency, is on the class path. Only {@code OpenTelemetryTracing} names that API.
 */
@NullMarked
package io.timewheel.server.trace;

import org.jspecify.annotations.NullMarked;
