// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.api.ApiJson;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.TimerSink;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.server.problem.Names;
import io.timewheel.server.problem.Problem;
import java.time.Instant;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Refuses timers with names or times that the HTTP API refuses: no request could change them. */
record ImportCheck(TimerSink sink) implements TimerSink {
  private static final Pattern UNTIL = Pattern.compile("(?:times \\d+ )?until (\\S+)");

  @Override
  public void begin(long lastVersion, Set<String> paused) {
    sink.begin(lastVersion, paused);
  }

  @Override
  public void take(CopiedTimer timer) {
    TimerRecord record = timer.record();
    try {
      Names.checked("namespace", record.key().namespace());
      Names.checked("id", record.key().id());
      Names.checked(
          record.definition().queue() ? "queue" : "handler", record.definition().handler());
      check("dueAt", record.dueAt());
      if (record.fireAt() != TimerRecord.NEVER) {
        check("fireAt", record.fireAt());
      }
      if (record.runAt() != TimerRecord.NONE) {
        check("runAt", record.runAt());
      }
      check("createdAt", record.createdAt());
      Matcher until = UNTIL.matcher(record.definition().recurrence());
      if (until.lookingAt()) {
        check("until", until.group(1), Instant.parse(until.group(1)));
      }
    } catch (Problem.Failure e) {
      throw new IllegalArgumentException(record.key() + ": " + e.getMessage(), e);
    }
    sink.take(timer);
  }

  private static void check(String what, long millis) {
    check(what, millis, Instant.ofEpochMilli(millis));
  }

  private static void check(String what, Object shown, Instant time) {
    if (!ApiJson.isAccepted(time)) {
      throw Problem.invalid(what, what + ": " + shown + " (expected: " + ApiJson.INSTANT + ")")
          .failure();
    }
  }

  @Override
  public void end() {
    sink.end();
  }
}
