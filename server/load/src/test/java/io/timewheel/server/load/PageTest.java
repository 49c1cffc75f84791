// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PageTest {
  private static final Path MODULE = Path.of("").toAbsolutePath();

  @Test
  void theDocumentedFiguresAreTheRecordedOnes() {
    assertThat(MODULE.resolve("../../docs/internals/benchmarks/server.md").normalize())
        .as("to write it: server/load/run --report server/load/results/latest.json --write")
        .hasContent(Page.of(Results.read(MODULE.resolve("results/latest.json"))));
  }
}
