// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.trace;

import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Propagates trace contexts, and makes spans if OpenTelemetry is present. */
public abstract class Tracing {
  /** The header that identifies a span, in a request, a timer and a delivery. */
  public static final String HEADER = "traceparent";

  private static final Pattern VALID =
      Pattern.compile("(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}");

  private static final Tracing PRESENT = find(Tracing.class.getClassLoader());

  Tracing() {}

  /** A step of a trace. */
  public interface Span {
    /** {@return the value of {@link #HEADER} for the next step; null if there is no trace} */
    @Nullable String traceparent();

    /** Ends the span; with an error unless the step succeeded. */
    void end(@Nullable String error);

    /** {@return the stage; its completion ends the span} */
    default <T> CompletionStage<T> over(CompletionStage<T> stage) {
      return stage.whenComplete(
          (result, failure) -> end(failure == null ? null : "the request failed"));
    }
  }

  /** {@return the tracing of this process} */
  public static Tracing get() {
    return PRESENT;
  }

  /** {@return the tracing for the classes of a loader} */
  static Tracing find(@Nullable ClassLoader loader) {
    try {
      Class.forName("io.opentelemetry.api.GlobalOpenTelemetry", false, loader);
      return Class.forName("io.timewheel.server.trace.OpenTelemetryTracing", true, loader)
          .asSubclass(Tracing.class)
          .getDeclaredConstructor()
          .newInstance();
    } catch (ReflectiveOperationException | LinkageError e) {
      return new Passing();
    }
  }

  /**
   * Begins the span of a schedule request, below a traceparent unless that is absent or malformed.
   */
  public final Span schedule(@Nullable String traceparent, Map<String, String> attributes) {
    return begin("timewheel schedule", false, valid(traceparent), attributes);
  }

  /** Begins the span of a delivery, below a traceparent unless that is absent or malformed. */
  public final Span deliver(@Nullable String traceparent, Map<String, String> attributes) {
    return begin("timewheel deliver", true, valid(traceparent), attributes);
  }

  private static @Nullable String valid(@Nullable String traceparent) {
    return traceparent != null && VALID.matcher(traceparent).matches() ? traceparent : null;
  }

  /** Begins a child span of another one, if there is one. */
  abstract Span begin(
      String name, boolean client, @Nullable String parent, Map<String, String> attributes);

  /** Without OpenTelemetry, passes the parent of this step to the next one. */
  private static final class Passing extends Tracing {
    @Override
    Span begin(
        String name, boolean client, @Nullable String parent, Map<String, String> attributes) {
      return new Span() {
        @Override
        public @Nullable String traceparent() {
          return parent;
        }

        @Override
        public void end(@Nullable String error) {
          // There is nothing to end.
        }
      };
    }
  }
}
