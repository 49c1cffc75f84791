// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The settings that the command line does not contain. Precedence: environment, then a file of
 * properties that {@code TIMEWHEEL_CONFIG} names, then the default of the option. The option {@code
 * --log-format} is {@code TIMEWHEEL_LOG_FORMAT} in the environment, and {@code log-format} in the
 * file.
 *
 * <p>Only a configured file is read. A file in the working directory could otherwise send a token
 * to a foreign server.
 */
public final class Settings implements IDefaultValueProvider {
  /** The variable with the path of the file. */
  public static final String FILE = "TIMEWHEEL_CONFIG";

  /** The variable with the token of a client. */
  public static final String TOKEN = "TIMEWHEEL_TOKEN";

  /** The variable with the password of the store. */
  public static final String STORE_PASSWORD = "TIMEWHEEL_STORE_PASSWORD";

  /** The variable with the password of the target store of a copy. */
  public static final String TO_STORE_PASSWORD = "TIMEWHEEL_TO_STORE_PASSWORD";

  /** The highest port. */
  public static final int MAX_PORT = 65_535;

  /**
   * Maps the setting of a secret to the setting of its file. In the environment, the secret takes
   * precedence over a file in the environment or in the settings.
   */
  private static final Map<String, String> SECRETS =
      Map.of("token-file", TOKEN, "store-password-file", STORE_PASSWORD);

  private final Map<String, String> environment;
  private final Set<String> names;
  private final @Nullable Path file;
  private final Properties properties = new Properties();

  private Settings(Map<String, String> environment, Set<String> names) {
    this.environment = Map.copyOf(environment);
    this.names = names;
    String named = environment.get(FILE);
    this.file = named == null || named.isBlank() ? null : Path.of(named);
  }

  /** A value as it was written, and its source: the variable or the file. */
  public record Found(String value, String source) {}

  /**
   * Reads the settings.
   *
   * @param environment the variables of the process
   * @param options the options that can be set without an argument
   * @throws IOException if the file cannot be read, or contains an unknown setting
   */
  public static Settings read(Map<String, String> environment, List<OptionSpec> options)
      throws IOException {
    Set<String> names = new TreeSet<>();
    for (OptionSpec option : options) {
      if (!option.usageHelp() && !option.versionHelp()) {
        names.add(nameOf(option));
      }
    }
    Settings settings = new Settings(environment, names);
    if (settings.file != null) {
      settings.load(settings.file);
    }
    return settings;
  }

  private void load(Path from) throws IOException {
    try (Reader reader = Files.newBufferedReader(from)) {
      properties.load(reader);
    } catch (IllegalArgumentException e) {
      throw new IOException(from + ": " + e.getMessage(), e);
    }
    Set<String> unknown = new TreeSet<>(properties.stringPropertyNames());
    unknown.removeAll(names);
    if (!unknown.isEmpty()) {
      throw new IOException(from + ": unknown " + unknown + " (expected: some of " + names + ")");
    }
  }

  /** {@return the value of an option, given without its dashes; null if it is not set} */
  public @Nullable Found find(String name) {
    if (!names.contains(name) || variable(SECRETS.getOrDefault(name, "")) != null) {
      return null;
    }
    String variable = "TIMEWHEEL_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
    String value = variable(variable);
    if (value != null) {
      return new Found(value, variable);
    }
    value = properties.getProperty(name);
    return value == null ? null : new Found(value.strip(), String.valueOf(file));
  }

  private @Nullable String variable(String name) {
    String value = environment.get(name);
    return value == null || value.isBlank() ? null : value;
  }

  @Override
  public @Nullable String defaultValue(ArgSpec argument) {
    Found found = argument instanceof OptionSpec option ? find(nameOf(option)) : null;
    return found == null ? null : found.value();
  }

  /** {@return the name of an option as a setting: its longest name, without dashes} */
  public static String nameOf(OptionSpec option) {
    return option.longestName().replaceFirst("^-+", "");
  }
}
