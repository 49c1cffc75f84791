// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.trace;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes spans by the global {@code OpenTelemetry} of the process. */
final class OpenTelemetryTracing extends Tracing {
  @Override
  Span begin(String name, boolean client, @Nullable String parent, Map<String, String> attributes) {
    SpanBuilder builder =
        GlobalOpenTelemetry.getTracer("io.timewheel")
            .spanBuilder(name)
            .setSpanKind(client ? SpanKind.CLIENT : SpanKind.SERVER);
    if (parent != null) {
      builder.setParent(Context.root().with(io.opentelemetry.api.trace.Span.wrap(context(parent))));
    }
    attributes.forEach(builder::setAttribute);
    io.opentelemetry.api.trace.Span span = builder.startSpan();
    String traceparent = span.getSpanContext().isValid() ? text(span.getSpanContext()) : parent;
    return new Span() {
      @Override
      public @Nullable String traceparent() {
        return traceparent;
      }

      @Override
      public void end(@Nullable String error) {
        if (error != null) {
          span.setStatus(StatusCode.ERROR, error);
        }
        span.end();
      }
    };
  }

  private static SpanContext context(String traceparent) {
    String[] parts = traceparent.split("-", -1);
    return SpanContext.createFromRemoteParent(
        parts[1], parts[2], TraceFlags.fromHex(parts[3], 0), TraceState.getDefault());
  }

  private static String text(SpanContext context) {
    return "00-"
        + context.getTraceId()
        + "-"
        + context.getSpanId()
        + "-"
        + context.getTraceFlags().asHex();
  }
}
