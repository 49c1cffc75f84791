// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Outcome.Answer;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Verifies the codes, which are part of the format: these lists only grow at their ends. */
class CodesTest {
  private static <E extends Enum<E>> void assertCodes(Codes<E> codes, E[] all, String... names) {
    assertThat(all).hasSameSizeAs(names).allMatch(each -> codes.at(codes.of(each)) == each);
    assertThat(IntStream.range(0, names.length).mapToObj(code -> codes.at(code).name()).toList())
        .isEqualTo(List.of(names));
  }

  @Test
  void neverChange() {
    assertCodes(
        Codes.STATES,
        TimerState.values(),
        "SCHEDULED",
        "READY",
        "RUNNING",
        "RETRYING",
        "FAILED",
        "BLOCKED",
        "PAUSED",
        "COMPLETED",
        "CANCELLED");
    assertCodes(
        Codes.ENDS,
        Attempt.End.values(),
        "SUCCEEDED",
        "FAILED",
        "LOST",
        "GIVEN_BACK",
        "RESCHEDULED",
        "SUPERSEDED");
    assertCodes(Codes.MISSED, MissedRuns.values(), "FIRE_ONCE", "FIRE_ALL", "SKIP");
    assertCodes(
        Codes.ANSWERS,
        Answer.values(),
        "CREATED",
        "REPLACED",
        "UNCHANGED",
        "EXISTS",
        "VERSION_DIFFERS",
        "OVER_LIMIT",
        "CANCELLED",
        "RUNNING",
        "COMPLETED",
        "NOT_FOUND",
        "APPLIED",
        "WRONG_STATE",
        "HELD",
        "OUTDATED",
        "STALE_OWNER",
        "REQUEST_DIFFERS");
  }
}
