// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.store.StoreCopies.Copy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which copies in the data are kept, and which are deleted. */
class StoreCopiesTest {
  private static final String ID = "01234567-89ab-cdef-0123-456789abcdef";

  @TempDir private Path data;
  private Path folder;

  @BeforeEach
  void makeFolder() throws IOException {
    folder = Files.createDirectory(data.resolve(StoreCopies.FOLDER));
  }

  private void copy(String name) throws IOException {
    Files.writeString(Files.createDirectory(folder.resolve(name)).resolve("CURRENT"), "x");
  }

  private String[] names() {
    return folder.toFile().list();
  }

  @Test
  void aCopyIsDeletedWithItsCommand() throws IOException {
    try (Copy copy = StoreCopies.reserve(data)) {
      copy(copy.path().getFileName().toString());
      assertThat(copy.path()).isDirectory();
    }
    assertThat(names()).isEmpty();
  }

  @Test
  void theNextCommandDeletesTheCopyOfOneThatWasKilled() throws IOException {
    copy("store-" + ID);
    Files.createFile(folder.resolve("store-" + ID + ".lock"));
    StoreCopies.reserve(data).close();
    assertThat(names()).isEmpty();
  }

  @Test
  void aCopyThatACommandHoldsStays() throws IOException {
    try (Copy copy = StoreCopies.reserve(data)) {
      copy(copy.path().getFileName().toString());
      StoreCopies.reserve(data).close();
      StoreCopies.deleteLeftovers(data);
      assertThat(copy.path().resolve("CURRENT")).exists();
    }
  }

  /** The server may be making the copy of a command that was killed meanwhile. */
  @Test
  void aLockStaysUntilItsCopyExistsOrIsImpossible() throws IOException {
    Files.createFile(folder.resolve("store-" + ID + ".lock"));
    StoreCopies.reserve(data).close();
    assertThat(names()).containsExactly("store-" + ID + ".lock");
    StoreCopies.deleteLeftovers(data);
    assertThat(names()).isEmpty();
  }

  @Test
  void backupsStayAndUnfinishedOnesAreDeleted() throws IOException {
    copy("copy-" + ID + ".tmp");
    copy("copy-" + ID);
    copy("copy-of-mine");
    copy("store-" + ID); // not of a command, which would have a lock file
    StoreCopies.deleteLeftovers(data);
    assertThat(names()).containsExactlyInAnyOrder("copy-of-mine", "store-" + ID);
  }

  @Test
  void theCopyOfACommandIsAwaitedWhereItHoldsALock() throws IOException {
    try (Copy copy = StoreCopies.reserve(data)) {
      assertThat(StoreCopies.isAwaited(copy.path())).isTrue();
      assertThat(StoreCopies.isAwaited(folder.resolve("store-" + ID))).isFalse();
      assertThat(StoreCopies.isAwaited(folder.resolve("store-of-mine"))).isTrue();
    }
  }

  @Test
  void withoutACopyNothingIsLeft() throws IOException {
    Files.delete(folder);
    StoreCopies.deleteLeftovers(data);
    assertThat(folder).doesNotExist();
  }
}
