// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import static java.time.temporal.ChronoUnit.SECONDS;

import io.timewheel.api.BackupRequest;
import io.timewheel.api.BackupsAnswer;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.server.http.Body;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.http.Work;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Authorization;
import io.timewheel.server.security.Role;
import io.timewheel.server.store.BackupSchedule;
import io.timewheel.server.store.StoreCopies;
import io.timewheel.server.store.TemporaryFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies the store while it is in use, into the store's own directory. So a caller over HTTP cannot
 * choose where this process writes. The operator of the directory moves the copy elsewhere.
 */
public final class BackupResource {
  private static final Logger LOG = LoggerFactory.getLogger(BackupResource.class);
  private static final int MAX_BODY = 1_024;

  /**
   * The maximum number of listed backups. Their names of up to 100 characters and their times take
   * less than 4 MB.
   */
  private static final int MAX_LISTED = 10_000;

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,99}");

  private final InstantSource clock;
  private volatile @Nullable Embedded embedded;

  private record Embedded(Path data, Consumer<Path> backup) {}

  public BackupResource(InstantSource clock) {
    this.clock = clock;
  }

  public void addTo(Router router) {
    router.read(Route.of("GET", "/v1/backups", Role.ADMIN), this::list);
    router.write(Route.of("POST", "/v1/backups", Role.ADMIN).with(Work.BULK), this::backup);
  }

  /** Sets the store, and the work that copies it into a new directory. */
  public void serve(Path data, Consumer<Path> backup) {
    try {
      StoreCopies.deleteLeftovers(data);
    } catch (IOException e) {
      LOG.warn("copies of killed processes remain in {}, and use disk space", data, e);
    }
    embedded = new Embedded(data, backup);
  }

  private Embedded embedded() {
    Embedded present = embedded;
    if (present == null) {
      throw Problem.of(409, "no_directory", "the store is a database: use its own backups")
          .failure();
    }
    return present;
  }

  private void list(Exchange exchange) throws IOException {
    exchange.request().query();
    Authorization.checkAllNamespaces(exchange.request().caller());
    Path data = embedded().data;
    List<BackupsAnswer.Backup> backups = new ArrayList<>();
    List<String> names = StoreCopies.backups(data);
    for (String name : names.subList(Math.max(0, names.size() - MAX_LISTED), names.size())) {
      try {
        backups.add(
            new BackupsAnswer.Backup(
                name,
                Files.getLastModifiedTime(data.resolve(StoreCopies.FOLDER).resolve(name))
                    .toInstant()
                    .truncatedTo(SECONDS),
                BackupSchedule.isAutomatic(name)));
      } catch (NoSuchFileException e) {
        // deleted meanwhile
      }
    }
    exchange.json(200, new BackupsAnswer(backups));
  }

  private Body<?> backup(Exchange exchange) {
    exchange.request().query();
    Authorization.checkAllNamespaces(exchange.request().caller());
    return Body.text(
        MAX_BODY,
        text -> {
          String sent = JsonReader.readOptional(text, BackupRequest.class).name();
          if (sent != null
              && (!NAME.matcher(sent).matches()
                  || !StoreCopies.isFree(sent)
                  || sent.startsWith(BackupSchedule.PREFIX))) {
            throw Problem.invalid(
                    "name",
                    "name: %s (expected: %s, not beginning with auto-, not ending in .tmp or .lock)"
                        .formatted(sent, NAME))
                .failure();
          }
          exchange.note("backup", sent == null ? "" : sent);
          exchange.deadline().end(); // a copy may take long
          Path copy = sent == null ? copy() : copy(sent);
          String name = copy.getFileName().toString();
          exchange.note("backup", name);
          exchange.json(201, new BackupRequest.Answer(name, copy.toString()));
        });
  }

  /** Makes a copy with the time as its name, and a number if there is such a copy. */
  synchronized Path copy() {
    String time = clock.instant().truncatedTo(SECONDS).toString().replace(':', '-');
    Path folder = embedded().data.resolve(StoreCopies.FOLDER);
    String name = time;
    for (int number = 2; Files.exists(folder.resolve(name)); number++) {
      name = time + "-" + number;
    }
    return copy(name);
  }

  /** Makes one copy at a time. If two have the same name, the second is refused. */
  public synchronized Path copy(String name) {
    Embedded present = embedded();
    Path target =
        present.data.toAbsolutePath().normalize().resolve(StoreCopies.FOLDER).resolve(name);
    if (!StoreCopies.isAwaited(target)) {
      throw notAwaited(name);
    }
    if (Files.exists(target)) {
      throw Problem.of(409, "exists", "there is a backup with this name").failure();
    }
    try {
      present.backup.accept(target);
    } catch (StoreException e) {
      throw Problem.unavailable(String.valueOf(e.getMessage())).failure();
    }
    if (!StoreCopies.isAwaited(target)) { // its command has ended meanwhile
      delete(target);
      throw notAwaited(name);
    }
    return target;
  }

  private static void delete(Path copy) {
    try {
      TemporaryFiles.delete(copy);
    } catch (IOException e) {
      LOG.warn("the copy of a command that has ended remains in {}, and uses disk space", copy, e);
    }
  }

  private static Problem.Failure notAwaited(String name) {
    return Problem.invalid(
            "name",
            "name: "
                + name
                + " is reserved for a command, which has ended or uses the data of another server")
        .failure();
  }
}
