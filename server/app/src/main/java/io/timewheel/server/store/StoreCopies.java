// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The copies in the directory of a server's data. Most are backups, which are kept. A command that
 * needs a copy requests one under a unique name, and deletes it after use. Meanwhile, the command
 * holds a lock file next to the copy. Once the lock is released, other processes know that the
 * command has ended, and delete its copy.
 */
public final class StoreCopies {
  /** The directory of copies, inside the data, and so on the same file system. */
  public static final String FOLDER = "backups";

  private static final String FOR_COMMAND = "store-";
  private static final String LOCK = ".lock";

  private static final String UUID_TEXT = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";
  private static final Pattern COMMAND = Pattern.compile(FOR_COMMAND + UUID_TEXT);

  /** Matches the name of an incomplete backup. */
  private static final Pattern UNFINISHED = Pattern.compile("copy-" + UUID_TEXT + "(\\.tmp)?");

  private StoreCopies() {}

  /** {@return whether a backup may have a name: names of commands' copies are reserved} */
  public static boolean isFree(String name) {
    return !name.endsWith(".tmp") && !name.endsWith(LOCK) && !UNFINISHED.matcher(name).matches();
  }

  /** {@return the names of the complete backups in the data, without copies for commands} */
  public static List<String> backups(Path data) throws IOException {
    List<String> names = new ArrayList<>();
    Path folder = data.resolve(FOLDER);
    if (Files.isDirectory(folder)) {
      try (DirectoryStream<Path> copies = Files.newDirectoryStream(folder, Files::isDirectory)) {
        for (Path copy : copies) {
          String name = copy.getFileName().toString();
          if (isFree(name) && !COMMAND.matcher(name).matches()) {
            names.add(name);
          }
        }
      } catch (DirectoryIteratorException e) {
        throw e.getCause();
      }
    }
    Collections.sort(names);
    return names;
  }

  /**
   * {@return whether a copy may be made: a copy for a command must have its lock, unless the
   * command uses other data}
   */
  public static boolean isAwaited(Path copy) {
    return !COMMAND.matcher(copy.getFileName().toString()).matches()
        || Files.exists(copy.resolveSibling(copy.getFileName() + LOCK));
  }

  /**
   * Deletes the files of killed processes. They contain links to files that RocksDB deleted long
   * ago.
   *
   * @param data the data of a store that the caller has open, so that no other process copies it
   */
  public static void deleteLeftovers(Path data) throws IOException {
    Path folder = data.resolve(FOLDER);
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (DirectoryStream<Path> copies = Files.newDirectoryStream(folder, "copy-*")) {
      for (Path copy : copies) {
        if (UNFINISHED.matcher(copy.getFileName().toString()).matches()) {
          TemporaryFiles.delete(copy);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    deleteAbandoned(folder, true);
  }

  /**
   * Deletes the copies of commands that have ended.
   *
   * @param alone true if no server can be making a copy at this moment. Otherwise, a server may
   *     still make the copy of a killed command, so the lock file must stay until the copy exists
   */
  private static void deleteAbandoned(Path folder, boolean alone) throws IOException {
    try (DirectoryStream<Path> locks = Files.newDirectoryStream(folder, FOR_COMMAND + "*" + LOCK)) {
      for (Path lock : locks) {
        String name = lock.getFileName().toString();
        Path copy = folder.resolve(name.substring(0, name.length() - LOCK.length()));
        if (alone || Files.exists(copy)) {
          deleteUnlessHeld(copy, lock);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  private static void deleteUnlessHeld(Path copy, Path lock) throws IOException {
    try (FileChannel channel = FileChannel.open(lock, WRITE)) {
      if (channel.tryLock() != null) {
        TemporaryFiles.delete(copy);
        TemporaryFiles.delete(lock);
      }
    } catch (NoSuchFileException e) {
      // its command has just ended
    } catch (OverlappingFileLockException e) {
      // a command in this process holds it
    }
  }

  /** A copy for a command. Closing it deletes the copy. */
  public static final class Copy implements AutoCloseable {
    private final FileChannel lock;
    private final TemporaryFiles files;

    private Copy(Path path) throws IOException {
      Path lockFile = path.resolveSibling(path.getFileName() + LOCK);
      lock = FileChannel.open(lockFile, CREATE_NEW, WRITE);
      lock.lock();
      files = new TemporaryFiles(path, lockFile);
    }

    public Path path() {
      return files.path();
    }

    @Override
    public void close() throws IOException {
      try (lock) {
        files.close();
      }
    }
  }

  /** Reserves a name for a copy, and deletes the copies of killed commands. */
  public static Copy reserve(Path data) throws IOException {
    Path folder = Files.createDirectories(data.resolve(FOLDER));
    deleteAbandoned(folder, false);
    return new Copy(folder.resolve(FOR_COMMAND + UUID.randomUUID()));
  }
}
