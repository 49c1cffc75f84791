// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/** The properties {@code timewheel.durable.*}; see {@link TimewheelProperties}. */
@ConfigurationProperties(TimewheelDurableProperties.PREFIX)
record TimewheelDurableProperties(@DefaultValue("./timewheel-data") String directory) {
  static final String PREFIX = TimewheelProperties.PREFIX + ".durable";

  /**
   * Returns the directory. Refuses an empty path, because it would silently mean the current
   * directory.
   */
  String checkedDirectory() {
    if (directory.isBlank()) {
      throw new InvalidConfigurationPropertyValueException(
          PREFIX + ".directory", directory, "expected: a path");
    }
    return directory;
  }
}
