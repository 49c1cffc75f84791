// SPDX-License-Identifier: Apache-2.0

/**
 * Traces of requests and deliveries, by <a href="https://www.w3.org/TR/trace-context/">W3C Trace
 * Context</a>. The entry is {@link io.timewheel.server.trace.Tracing}. It stores the {@code
 * traceparent} of a request with the timer, and makes spans if OpenTelemetry's API, an optional
 * dependency, is on the class path. Only {@code OpenTelemetryTracing} uses that API.
 */
@NullMarked
package io.timewheel.server.trace;

import org.jspecify.annotations.NullMarked;
