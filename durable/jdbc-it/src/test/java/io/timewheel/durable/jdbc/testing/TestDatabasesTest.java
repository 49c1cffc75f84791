// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

class TestDatabasesTest {
  @Test
  void skipsTheTestWithAReasonIfAServerIsNotInstalled() {
    TestDatabases.Shared<Path> absent =
        new TestDatabases.Shared<>(
            "some-package", () -> Binaries.find("no-such-program"), started -> {});
    assertThatThrownBy(absent::server)
        .isInstanceOf(TestAbortedException.class)
        .hasMessageContaining("no no-such-program")
        .hasMessageContaining("some-package");
  }
}
