// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

class TestDatabasesTest {
  @Test
  void skipsTheTestAndSaysWhyWhereAServerIsAbsent() {
    TestDatabases.Shared absent =
        new TestDatabases.Shared(
            "some-package",
            () ->
                new PostgreSqlServer(Binaries.find("no-such-program"), Binaries.find("postgres")));
    assertThatThrownBy(absent::server)
        .isInstanceOf(TestAbortedException.class)
        .hasMessageContaining("no no-such-program")
        .hasMessageContaining("some-package");
  }
}
