// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.rocksdb.internal.transfer.JsonExport;
import io.timewheel.durable.rocksdb.internal.transfer.JsonImport;
import io.timewheel.durable.spi.TimerSink;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.maintenance.StoreCopy;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * Writes the timers of any store as lines of JSON, and reads them into any store. The lines contain
 * pauses, the last version, and all timers, without stored answers of requests.
 */
public final class TimerLines {
  private TimerLines() {}

  /**
   * Writes all timers, as of one moment, while the store is in use.
   *
   * @param from the store to read
   * @param out the stream; flushed, and not closed
   * @return the number of timers that were written
   * @throws io.timewheel.durable.spi.maintenance.IncompleteExportException at the end, if some
   *     timers cannot be read. The others can be imported
   * @throws java.io.UncheckedIOException if a write fails
   */
  public static long exportTo(TimerStore from, OutputStream out) {
    try (JsonExport export = new JsonExport(requireNonNull(out, "out"))) {
      from.copyTo(export);
      return export.timers();
    }
  }

  /**
   * Reads the lines of an export. A stored timer is replaced only if it is older, by version and
   * then by revision. So the same export can be imported again, for example after an error.
   *
   * <p>An incorrect line ends the import. The lines before it may have been imported.
   *
   * @param in the stream; not closed
   * @param to the store to write to
   * @return the number of timers that were written
   * @throws IllegalArgumentException if the stream is not an export or is cut off. The message
   *     contains the line and the reason
   * @throws java.io.UncheckedIOException if a read fails
   */
  public static long importFrom(InputStream in, TimerStore to) {
    StoreCopy copy = new StoreCopy(to, read -> {});
    readTo(in, copy);
    return copy.written();
  }

  /**
   * Reads the lines of an export into any sink.
   *
   * @param in the stream; not closed
   * @param sink takes the timers, in the order of the lines; not ended if a line is incorrect
   * @throws IllegalArgumentException if the stream is not an export or is cut off. The message
   *     contains the line and the reason
   * @throws java.io.UncheckedIOException if a read fails
   */
  public static void readTo(InputStream in, TimerSink sink) {
    JsonImport.read(requireNonNull(in, "in"), requireNonNull(sink, "sink"));
  }
}
