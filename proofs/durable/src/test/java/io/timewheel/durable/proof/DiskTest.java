// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults in which the directory of a store cannot be used. */
class DiskTest {
  @TempDir Path directory;

  private void scheduleOne(Path store) {
    try (DurableTimer scheduler = DurableTimer.builder(Stores.open(store, Log.NONE)).start()) {
      scheduler.schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ofDays(1)));
    }
  }

  private void assertHasIt(Path store) {
    try (DurableTimer scheduler = DurableTimer.builder(Stores.open(store, Log.NONE)).start()) {
      assertThat(scheduler.timer("ns", "a").get()).isPresent();
    }
  }

  @Test
  void losesNothingOnAFullDiskAndContinuesWhenThereIsSpace() throws Exception {
    FullDisk.Report report;
    try {
      report = FullDisk.runAt(directory.resolve("disk"));
    } catch (Mount.NotAllowedException e) {
      abort("SKIPPED: no small file system can be mounted here: " + e.getMessage());
      return;
    }
    assertThat(report.violations).isEmpty();
    assertThat(report.refused).isPositive();
    assertThat(report.recoveredMillis).isNotNegative();
  }

  @Test
  void refusesADirectoryThatIsReadOnly() throws Exception {
    Path store = directory.resolve("store");
    scheduleOne(store);
    Path point = directory.resolve("read-only");
    try (Mount mount = Mount.readOnly(store, point)) {
      assertThatThrownBy(() -> Stores.open(mount.point(), Log.NONE))
          .isInstanceOfSatisfying(
              StoreException.class,
              e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNAVAILABLE))
          .hasMessageContaining(point.toString())
          .hasMessageContaining("read-only");
    } catch (Mount.NotAllowedException e) {
      abort("SKIPPED: nothing can be mounted read-only here: " + e.getMessage());
    }
    assertHasIt(store);
  }

  @Test
  void refusesASecondProcess() throws Exception {
    Path store = directory.resolve("store");
    scheduleOne(store);
    try (TimerStore open = Stores.open(store, Log.NONE)) {
      assertThat(open.counts()).containsKey("ns");
      assertThat(openedByAnother(store))
          .startsWith(Opener.REFUSED + "UNAVAILABLE " + store)
          .contains("is in use by another store");
      assertThatThrownBy(() -> Stores.open(store, Log.NONE))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining(store.toString());
    }
    assertThat(openedByAnother(store)).startsWith(Opener.OPENED);
    assertHasIt(store);
  }

  @Test
  void leavesNothingInTheDirectoryForTemporaryFilesWhenItIsKilled() throws Exception {
    Path temporary = Files.createDirectory(directory.resolve("tmp"));
    Path log = directory.resolve("log");
    Child.Settings settings =
        new Child.Settings(directory.resolve("store"), log, 1, 1, Log.NONE, 0, false, false);
    // Not the library that was unpacked for all children: each unpacks its own, like users'
    // processes.
    List<String> jvm = List.of("-Djava.io.tmpdir=" + temporary, "-Djava.library.path=" + temporary);
    ChildProcess child =
        ChildProcess.start(Child.class, directory.resolve("errors"), jvm, settings.toArgs());
    assertThat(child.await(Child.Mark.STARTED.name())).isNotNull();
    child.kill();
    assertThat(temporary).isEmptyDirectory();
  }

  private String openedByAnother(Path store) throws Exception {
    ChildProcess child =
        ChildProcess.start(Opener.class, directory.resolve("errors"), List.of(), store.toString());
    String said = child.await("");
    child.awaitExit();
    return String.valueOf(said);
  }
}
