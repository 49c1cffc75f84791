// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class StoreLocationTest {
  @TempDir private Path directory;

  @Test
  void takesThePermissionsOfOthersFromDataThatExistsAndLogsIt() throws Exception {
    Path data = directory.resolve("data");
    RocksTimerStore.open(data).close();
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.setPosixFilePermissions(
        data.resolve("CURRENT"), PosixFilePermissions.fromString("rw-r--r--"));
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(StoreLocation.class);
    logger.addAppender(log);
    try (TimerStore opened = new StoreLocation(data, null).open()) {
      assertThat(opened).isInstanceOf(RocksTimerStore.class);
    } finally {
      logger.detachAppender(log);
    }

    assertThat(Files.getPosixFilePermissions(data))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    assertThat(log.list)
        .singleElement()
        .extracting(ILoggingEvent::getFormattedMessage)
        .asString()
        .startsWith(data + ": removed the permissions of other users on ");
  }
}
