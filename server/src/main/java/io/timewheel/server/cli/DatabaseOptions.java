// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static java.util.Objects.requireNonNull;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.server.settings.SecretFile;
import io.timewheel.server.settings.Settings;
import io.timewheel.server.store.SharedDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Which database nodes share, and who has it. */
public final class DatabaseOptions {
  private static final Pattern SECRET = Pattern.compile("password=", Pattern.CASE_INSENSITIVE);

  @Option(
      names = "--store",
      paramLabel = "URL",
      description =
          "A database that nodes share, as jdbc:postgresql://host/database or"
              + " jdbc:mariadb://host/database, instead of --data.",
      converter = UrlConverter.class)
  private @Nullable String store;

  @Option(names = "--store-user", paramLabel = "USER", description = "The user of the database.")
  private @Nullable String storeUser;

  @Option(
      names = "--store-password-file",
      paramLabel = "FILE",
      description = "Holds the password; or set TIMEWHEEL_STORE_PASSWORD. It is never an argument.")
  private @Nullable Path storePasswordFile;

  private @Nullable String storePassword() throws IOException {
    return storePasswordFile == null
        ? System.getenv(Settings.STORE_PASSWORD)
        : new SecretFile(storePasswordFile).read().strip();
  }

  /** {@return the database; null if none is named} */
  @Nullable SharedDatabase database() {
    return store == null ? null : new SharedDatabase(store, storeUser, this::storePassword);
  }

  /** {@return the URL of the database; null if none is named} */
  @Nullable String url() {
    return store;
  }

  /**
   * Opens the store in the database, and closes it afterwards. It makes no tables.
   *
   * @param <T> the type of the result
   * @param work what to do with the store
   * @return the result
   * @throws IOException if the password cannot be read
   */
  <T> T using(Function<JdbcTimerStore, T> work) throws IOException {
    SharedDatabase database = requireNonNull(database(), "--store");
    try (HikariDataSource pool = new HikariDataSource(database.smallPool())) {
      JdbcTimerStore.Builder builder = database.builder(pool);
      if (!builder.migration(false).isEmpty()) {
        throw new StoreException(
            StoreException.Kind.UNAVAILABLE,
            "the tables are missing, or not ready for this release (`timewheel store migrate`"
                + " prepares them)",
            null);
      }
      try (JdbcTimerStore opened = builder.open()) {
        return work.apply(opened);
      }
    }
  }

  /** Refuses what nodes cannot share. */
  private static final class UrlConverter implements ITypeConverter<String> {
    @Override
    public String convert(String url) {
      if (!SharedDatabase.canBeShared(url)) {
        throw new TypeConversionException(
            "expected: one like jdbc:postgresql://host/database or jdbc:mariadb://host/database");
      }
      if (SECRET.matcher(url).find()) {
        throw new TypeConversionException("a password does not belong here, where others see it");
      }
      return url;
    }
  }
}
