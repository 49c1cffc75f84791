// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.spi.record.TimerDefinition;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Verifies encodings with bytes that stores may contain, and that must never change. */
class RecordCodecTest {
  private static final RetryPolicy PLAIN =
      new RetryPolicy(5, Duration.ofSeconds(1), Duration.ofMinutes(1));

  private static TimerDefinition definition(RetryPolicy retry, MissedRuns missed) {
    return new TimerDefinition("", "h", false, new byte[0], Map.of(), retry, missed, 60_000);
  }

  private static void assertSpec(TimerDefinition definition, String hex) {
    assertThat(RecordCodec.encodeSpec(definition)).asHexString().isEqualTo(hex);
    byte[] bytes = HexFormat.of().parseHex(hex);
    assertThat(RecordCodec.decodeSpec(bytes, "h", false, new byte[0])).isEqualTo(definition);
  }

  @Test
  void anEmptySpecHasTheseSettings() {
    assertSpec(definition(PLAIN, MissedRuns.FIRE_ONCE), "");
  }

  @Test
  void aSpecWithoutARetryPolicyHasThisOne() {
    assertSpec(definition(PLAIN, MissedRuns.FIRE_ALL), "03" + "00" + "00" + "01" + "C0A907" + "00");
  }

  @Test
  void aSpecContainsAnotherRetryPolicy() {
    assertSpec(
        definition(new RetryPolicy(6, PLAIN.backoff(), PLAIN.maxBackoff()), MissedRuns.FIRE_ONCE),
        "03" + "01" + "00" + "00" + "C0A907" + "00" + "06" + "0200" + "7800");
  }

  @Test
  void refusesAnotherFormatAndUnreadBytes() {
    assertThatThrownBy(() -> RecordCodec.decodeProgress(new byte[] {2, 0, 0}))
        .isInstanceOf(MalformedException.class)
        .hasMessage("it has format 2 (expected: 3)");
    assertThatThrownBy(() -> RecordCodec.decodeProgress(new byte[] {3, 0, 0, 0}))
        .isInstanceOf(MalformedException.class)
        .hasMessage("1 bytes too many");
  }
}
