// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.rocksdb.RocksTimerStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnerOnlyTest {
  @TempDir private Path directory;

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void aStoreCreatesItsDirectoryForItsOwnerOnly() throws IOException {
    Path parent = directory.resolve("parent");
    Path data = parent.resolve("data");
    RocksTimerStore.open(data).close();
    assertThat(permissions(data)).isEqualTo("rwx------");
    assertThat(permissions(parent)).isNotEqualTo("rwx------");
  }

  @Test
  void allFilesOfABackupAreForItsOwnerOnly() throws IOException {
    Path copy = directory.resolve("backups").resolve("one");
    try (RocksTimerStore store = RocksTimerStore.open(directory.resolve("data"))) {
      store.backup(copy);
    }
    assertThat(permissions(copy)).isEqualTo("rwx------");
    try (Stream<Path> files = Files.list(copy)) {
      assertThat(files).isNotEmpty().allMatch(file -> isOfOwner(file));
    }
    try (Stream<Path> left = Files.list(directory.resolve("backups"))) {
      assertThat(left).containsExactly(copy);
    }
  }

  private static boolean isOfOwner(Path file) {
    try {
      return permissions(file).equals("rw-------");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void anExistingDirectoryIsRestrictedWithItsFilesAndWithoutTheTargetsOfItsLinks()
      throws IOException {
    Path data = Files.createDirectories(directory.resolve("data/backups"));
    Path file = Files.writeString(data.resolve("000001.sst"), "");
    Path elsewhere = Files.writeString(directory.resolve("elsewhere"), "");
    Files.createSymbolicLink(data.resolve("link"), elsewhere);
    for (Path path : new Path[] {data.getParent(), data}) {
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-x---"));
    }
    for (Path path : new Path[] {file, elsewhere}) {
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-r--r--"));
    }

    assertThat(OwnerOnly.restrict(data.getParent())).isEqualTo(3);
    assertThat(permissions(data.getParent())).isEqualTo("rwx------");
    assertThat(permissions(data)).isEqualTo("rwx------");
    assertThat(permissions(file)).isEqualTo("rw-------");
    assertThat(permissions(elsewhere)).isEqualTo("rw-r--r--");
    assertThat(OwnerOnly.restrict(data.getParent())).isZero();
  }
}
