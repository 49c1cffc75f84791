// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.server.problem.Problem;
import io.timewheel.server.store.StoreCopies;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests copies for commands, and the names of copies without one. */
class BackupResourceTest {
  @TempDir private Path data;

  @Test
  void copiesOfTheSameSecondHaveDifferentNames() {
    BackupResource backups = new BackupResource(InstantSource.fixed(Instant.EPOCH));
    backups.serve(data, target -> assertThat(target.toFile().mkdirs()).isTrue());
    for (String more : new String[] {"", "-2", "-3"}) {
      assertThat(backups.copy()).hasFileName("1970-01-01T00-00-00Z" + more);
    }
  }

  @Test
  void theCopyOfACommandThatEndsMeanwhileIsDeleted() throws IOException {
    BackupResource backups = new BackupResource(InstantSource.system());
    StoreCopies.Copy command = StoreCopies.reserve(data);
    backups.serve(
        data,
        target -> {
          try {
            command.close();
            Files.createDirectory(target);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
    assertThatThrownBy(() -> backups.copy(command.path().getFileName().toString()))
        .isInstanceOf(Problem.Failure.class)
        .hasMessageContaining("which has ended");
    assertThat(data.resolve(StoreCopies.FOLDER)).isEmptyDirectory();
  }
}
