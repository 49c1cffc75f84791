// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli.serve;

import static java.util.Objects.requireNonNull;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.JdbcTimerStoreBuilder;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.server.settings.SecretFile;
import io.timewheel.server.settings.Settings;
import io.timewheel.server.store.SharedDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.TypeConversionException;

/** The options of the database that nodes share: its URL, user and password. */
public final class DatabaseOptions {
  private static final Pattern SECRET = Pattern.compile("password=", Pattern.CASE_INSENSITIVE);

  @Option(
      names = "--store",
      scope = ScopeType.INHERIT,
      paramLabel = "URL",
      description =
          "Store timers in this database, such as jdbc:postgresql://host/database or"
              + " jdbc:mariadb://host/database.",
      converter = UrlConverter.class)
  private @Nullable String store;

  @Option(
      names = "--store-user",
      scope = ScopeType.INHERIT,
      paramLabel = "USER",
      description = "Connect to the database as this user.")
  private @Nullable String storeUser;

  @Option(
      names = "--store-password-file",
      scope = ScopeType.INHERIT,
      paramLabel = "FILE",
      description = "Read the password from this file (or set TIMEWHEEL_STORE_PASSWORD).")
  private @Nullable Path storePasswordFile;

  private @Nullable String storePassword() throws IOException {
    return storePasswordFile == null
        ? System.getenv(Settings.STORE_PASSWORD)
        : new SecretFile(storePasswordFile).read().strip();
  }

  /** {@return the database; null if none is configured} */
  public @Nullable SharedDatabase database() {
    return store == null ? null : new SharedDatabase(store, storeUser, this::storePassword);
  }

  /** {@return the URL of the database; null if none is configured} */
  public @Nullable String url() {
    return store;
  }

  /** Work with a store. */
  public interface Work<T> {
    T with(JdbcTimerStore store) throws IOException;
  }

  /** Opens the store in the database, uses it, and closes it. Creates no tables. */
  public <T> T using(Work<T> work) throws IOException {
    return using(requireNonNull(database(), "--store"), work);
  }

  /** Opens the store in any database, uses it, and closes it. Creates no tables. */
  public static <T> T using(SharedDatabase database, Work<T> work) throws IOException {
    try (HikariDataSource pool = new HikariDataSource(database.smallPool())) {
      JdbcTimerStoreBuilder builder = database.builder(pool);
      if (!builder.migration(false).isEmpty()) {
        throw new StoreException(
            StoreException.Kind.UNAVAILABLE,
            "the tables are missing, or not ready for this release (`timewheel store migrate`"
                + " prepares them)",
            null);
      }
      try (JdbcTimerStore opened = builder.open()) {
        return work.with(opened);
      }
    }
  }

  /** Refuses the URLs of databases that nodes cannot share. */
  public static final class UrlConverter implements ITypeConverter<String> {
    @Override
    public String convert(String url) {
      if (!SharedDatabase.canBeShared(url)) {
        throw new TypeConversionException(
            "expected: one like jdbc:postgresql://host/database or jdbc:mariadb://host/database");
      }
      if (SECRET.matcher(url).find()) {
        throw new TypeConversionException(
            "the URL must not contain a password, because other users can see it");
      }
      return url;
    }
  }
}
