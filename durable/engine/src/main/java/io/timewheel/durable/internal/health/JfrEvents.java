// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import io.timewheel.durable.spi.record.TimerRecord;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * The events of Flight Recorder. Both have a duration, and a threshold of 10 ms unless a recording
 * sets another. Without a recording they cost one check and allocate no object.
 */
final class JfrEvents {
  private static final Attempt ATTEMPT = new Attempt();
  private static final Commit COMMIT = new Commit();

  private JfrEvents() {}

  /** Checks the recorder. Unlike its outer class, this one loads no event classes. */
  static final class Recorder {
    private Recorder() {}

    /** {@return whether a recording was made in this JVM, or the recorder used in another way} */
    static boolean isInitialized() {
      return FlightRecorder.isInitialized();
    }
  }

  /** {@return true, or fails to link} */
  static boolean load() {
    return true;
  }

  static @Nullable Object attemptBegins() {
    if (!ATTEMPT.isEnabled()) {
      return null;
    }
    Attempt event = new Attempt();
    event.begin();
    return event;
  }

  static void attemptEnded(
      Object begun, TimerRecord record, String handler, long lagMillis, @Nullable Throwable error) {
    Attempt event = (Attempt) begun;
    event.end();
    if (event.shouldCommit()) {
      event.namespace = record.key().namespace();
      event.id = record.key().id();
      event.handler = handler;
      event.attempt = record.attempt();
      event.lag = lagMillis;
      event.failure = error == null ? null : error.getClass();
      event.commit();
    }
  }

  static @Nullable Object commitBegins() {
    if (!COMMIT.isEnabled()) {
      return null;
    }
    Commit event = new Commit();
    event.begin();
    return event;
  }

  static void commitEnded(Object begun, int changes, @Nullable Throwable error) {
    Commit event = (Commit) begun;
    event.end();
    if (event.shouldCommit()) {
      event.changes = changes;
      event.failure = error == null ? null : error.toString();
      event.commit();
    }
  }

  /** The run of a handler. */
  @Name("io.timewheel.durable.Attempt")
  @Label("Attempt")
  @Category({"Timewheel", "Durable"})
  @Description("The run of a handler; its duration is that of the handler")
  @StackTrace(false)
  @Threshold("10 ms")
  static final class Attempt extends Event {
    @Label("Namespace")
    @Nullable String namespace;

    @Label("Id")
    @Nullable String id;

    @Label("Handler")
    @Nullable String handler;

    @Label("Attempt")
    int attempt;

    @Label("Lag")
    @Description("The time from the due time to the begin of the attempt")
    @Timespan(Timespan.MILLISECONDS)
    long lag;

    @Label("Failure")
    @Nullable Class<?> failure;
  }

  /** The commit of a batch of changes. */
  @Name("io.timewheel.durable.Commit")
  @Label("Commit")
  @Category({"Timewheel", "Durable"})
  @Description("The commit of a batch of changes to the store")
  @StackTrace(false)
  @Threshold("10 ms")
  static final class Commit extends Event {
    @Label("Changes")
    int changes;

    @Label("Failure")
    @Nullable String failure;
  }
}
