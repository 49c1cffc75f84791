// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TracingTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String PARENT = "00-" + TRACE + "-b7ad6b7169203331-01";

  /** A class loader that hides only the classes of OpenTelemetry. */
  private static final class Without extends ClassLoader {
    Without() {
      super(TracingTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith("io.opentelemetry.")) {
        throw new ClassNotFoundException(name);
      }
      return super.loadClass(name, resolve);
    }
  }

  @Test
  void withoutOpenTelemetryATraceIsPassedOnUnchanged() {
    Tracing tracing = Tracing.find(new Without());
    assertThat(tracing).isNotInstanceOf(OpenTelemetryTracing.class);
    Tracing.Span span = tracing.schedule(PARENT, Map.of());
    assertThat(span.traceparent()).isEqualTo(PARENT);
    span.end("no luck");
    assertThat(tracing.deliver(null, Map.of()).traceparent()).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00-1-2-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\nHost: evil.example"
      })
  void ignoresAMalformedHeader(String header) {
    assertThat(Tracing.find(new Without()).deliver(header, Map.of()).traceparent()).isNull();
  }

  private static final class Spans implements SpanExporter {
    final List<SpanData> ended = new ArrayList<>();

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      ended.addAll(spans);
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode flush() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      return CompletableResultCode.ofSuccess();
    }
  }

  @Test
  void withOpenTelemetryADeliveryIsASpanBelowItsSchedule() {
    Spans spans = new Spans();
    SdkTracerProvider provider =
        SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build();
    GlobalOpenTelemetry.resetForTest();
    GlobalOpenTelemetry.set(
        new OpenTelemetry() {
          @Override
          public TracerProvider getTracerProvider() {
            return provider;
          }

          @Override
          public ContextPropagators getPropagators() {
            return ContextPropagators.noop();
          }
        });
    try {
      Tracing tracing = Tracing.find(TracingTest.class.getClassLoader());
      Tracing.Span schedule = tracing.schedule(PARENT, Map.of("timewheel.id", "a"));
      schedule.end(null);
      Tracing.Span deliver = tracing.deliver(schedule.traceparent(), Map.of());
      deliver.end("shop.example answered 500");

      assertThat(spans.ended)
          .extracting(SpanData::getName)
          .containsExactly("timewheel schedule", "timewheel deliver");
      SpanData first = spans.ended.get(0);
      SpanData second = spans.ended.get(1);
      assertThat(first.getTraceId()).isEqualTo(TRACE);
      assertThat(first.getParentSpanId()).isEqualTo("b7ad6b7169203331");
      assertThat(first.getKind()).isEqualTo(SpanKind.SERVER);
      assertThat(second.getParentSpanId()).isEqualTo(first.getSpanId());
      assertThat(second.getKind()).isEqualTo(SpanKind.CLIENT);
      assertThat(second.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
      assertThat(deliver.traceparent()).isEqualTo("00-" + TRACE + "-" + second.getSpanId() + "-01");
    } finally {
      GlobalOpenTelemetry.resetForTest();
      provider.close();
    }
  }
}
