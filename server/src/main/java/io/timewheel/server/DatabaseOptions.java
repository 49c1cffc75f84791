// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.util.Objects.requireNonNull;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.server.cli.SharedStore;
import io.timewheel.server.settings.SecretFile;
import io.timewheel.server.settings.Settings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Which database nodes share, and who has it. */
final class DatabaseOptions implements SharedStore {
  private static final Pattern SECRET = Pattern.compile("password=", Pattern.CASE_INSENSITIVE);

  @Option(
      names = "--store",
      paramLabel = "URL",
      description =
          "A database that nodes share, as jdbc:postgresql://host/database or"
              + " jdbc:mariadb://host/database, instead of --data.",
      converter = UrlConverter.class)
  @Nullable String store;

  @Option(names = "--store-user", paramLabel = "USER", description = "Who has the database.")
  @Nullable String storeUser;

  @Option(
      names = "--store-password-file",
      paramLabel = "FILE",
      description = "Holds the password; or set TIMEWHEEL_STORE_PASSWORD. It is never an argument.")
  private @Nullable Path storePasswordFile;

  /**
   * {@return the password of the store, if it has one}
   *
   * @throws IOException if its file cannot be read
   */
  @Nullable String storePassword() throws IOException {
    return storePasswordFile == null
        ? System.getenv(Settings.STORE_PASSWORD)
        : new SecretFile(storePasswordFile).read().strip();
  }

  @Override
  public @Nullable String url() {
    return store;
  }

  @Override
  public <T> T using(Function<JdbcTimerStore, T> work) throws IOException {
    String url = requireNonNull(store, "--store");
    try (HikariDataSource pool = new HikariDataSource(Stores.smallPool(this, url))) {
      JdbcTimerStore.Builder builder = Stores.builder(url, pool);
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
      if (!Stores.canBeShared(url)) {
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
