// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class TransferProgressTest {
  private final StringWriter err = new StringWriter();

  private TransferProgress progress(long total) {
    return new TransferProgress(new PrintWriter(err), total);
  }

  @Test
  void printsALineForEach100000Timers() {
    TransferProgress progress = progress(250_000);
    progress.reached(99_999);
    assertThat(err.toString()).isEmpty();
    progress.reached(101_000);
    progress.reached(199_000);
    progress.reached(201_000);
    assertThat(err.toString().lines()).containsExactly("101,000 of 250,000", "201,000 of 250,000");
  }

  @Test
  void countsTheLinesOfAStream() throws IOException {
    byte[] lines = "line\n".repeat(200_000).getBytes(UTF_8);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (OutputStream counting = progress(0).counting(out)) {
      counting.write(lines);
    }
    assertThat(out.toByteArray()).isEqualTo(lines);
    assertThat(err.toString().lines()).containsExactly("100,000", "200,000");
  }
}
