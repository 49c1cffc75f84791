// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.RetryPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Verifies encodings with values that stored rows already have, and that must never change. */
class RecordCodecTest {
  private static final RetryPolicy PLAIN =
      new RetryPolicy(5, Duration.ofSeconds(1), Duration.ofMinutes(1));

  private static final RecordCodec.Spec EMPTY =
      new RecordCodec.Spec("", Map.of(), PLAIN, 0, 60_000);

  private static void assertSpec(RecordCodec.Spec spec, String hex) throws IOException {
    assertThat(RecordCodec.encode(spec)).asHexString().isEqualTo(hex);
    assertThat(RecordCodec.decodeSpec(HexFormat.of().parseHex(hex))).isEqualTo(spec);
  }

  @Test
  void anEmptySpecHasTheseSettings() throws IOException {
    assertSpec(EMPTY, "");
  }

  @Test
  void aSpecWithoutARetryPolicyHasThisOne() throws IOException {
    assertSpec(
        new RecordCodec.Spec("", Map.of(), PLAIN, 1, 60_000),
        "02" + "00" + "0000" + "01" + "000000000000EA60" + "0000");
  }

  @Test
  void aSpecContainsAnotherRetryPolicy() throws IOException {
    assertSpec(
        new RecordCodec.Spec(
            "", Map.of(), new RetryPolicy(6, PLAIN.backoff(), PLAIN.maxBackoff()), 0, 60_000),
        "02"
            + "01"
            + "0000"
            + "00"
            + "000000000000EA60"
            + "0000"
            + "00000006"
            + "0000000000000001"
            + "00000000"
            + "000000000000003C"
            + "00000000");
  }
}
