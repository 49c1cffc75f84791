// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.mariadb.jdbc.Configuration;
import org.postgresql.Driver;
import org.postgresql.PGProperty;

/** Tests the settings in the form of each database driver. */
class SharedDatabaseTest {
  private static final String MARIADB = "jdbc:mariadb://db.example/timers";
  private static final String POSTGRESQL = "jdbc:postgresql://db.example/timers";

  private static Properties properties(String url) throws IOException {
    return new SharedDatabase(url, null, () -> null).pool().getDataSourceProperties();
  }

  @Test
  void mariaDbMayBeSilentForEightSecondsUnlessTheUrlAllowsMore() throws Exception {
    Configuration driver = Configuration.parse(MARIADB, properties(MARIADB));
    assertThat(driver.socketTimeout()).isEqualTo(8_000);
    assertThat(driver.connectTimeout()).isEqualTo(8_000);
    String more = MARIADB + "?socketTimeout=20000";
    assertThat(Configuration.parse(more, properties(more)).socketTimeout()).isEqualTo(20_000);
  }

  @Test
  void postgreSqlMayBeSilentForEightSecondsUnlessTheUrlAllowsMore() throws Exception {
    Properties driver = Driver.parseURL(POSTGRESQL, properties(POSTGRESQL));
    assertThat(PGProperty.SOCKET_TIMEOUT.getInt(driver)).isEqualTo(8);
    assertThat(PGProperty.CONNECT_TIMEOUT.getInt(driver)).isEqualTo(8);
    String more = POSTGRESQL + "?socketTimeout=20";
    assertThat(PGProperty.SOCKET_TIMEOUT.getInt(Driver.parseURL(more, properties(more))))
        .isEqualTo(20);
  }
}
