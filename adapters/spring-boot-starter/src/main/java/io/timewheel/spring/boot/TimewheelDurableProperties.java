// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** The properties {@code timewheel.durable.*}; see {@link TimewheelProperties}. */
@ConfigurationProperties(TimewheelDurableProperties.PREFIX)
record TimewheelDurableProperties(@DefaultValue("./timewheel-data") String directory) {
  static final String PREFIX = TimewheelProperties.PREFIX + ".durable";
}
