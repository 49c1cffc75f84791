// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/** Tests the log configuration of the server. */
class LogOutputTest {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private static final String FORGED = "\n2026-12-01T09:00:00.000Z ERROR x forged";

  private static String written(String message, Throwable thrown, boolean asJson) throws Exception {
    LoggerContext context = new LoggerContext();
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    configurator.doConfigure(LogOutputTest.class.getResource("/logback.xml"));
    Logger logger = context.getLogger("io.timewheel.server.http.Exchange");
    var appender =
        (OutputStreamAppender<ILoggingEvent>)
            context.getLogger(Logger.ROOT_LOGGER_NAME).getAppender("stderr");
    var encoder = asJson ? LogOutput.json(context) : appender.getEncoder();
    LoggingEvent event =
        new LoggingEvent("fqcn", logger, Level.ERROR, message, thrown, new Object[0]);
    event.setMDCPropertyMap(Map.of());
    return new String(encoder.encode(event), UTF_8);
  }

  @Test
  void aMessageIsOneLine() throws Exception {
    String text = written("a\r" + FORGED + "\u001b[2J\u0085\u2028z", null, false);

    assertThat(text).hasLineCount(1).endsWith("z" + System.lineSeparator());
    assertThat(text).matches("[ -~]+\\R");
  }

  @Test
  void theMessageOfAnExceptionForgesNoLine() throws Exception {
    Throwable cause = new IllegalStateException("b" + FORGED);
    String text = written("failed", new RuntimeException("a\r" + FORGED, cause), false);

    assertThat(text.lines()).noneMatch(line -> line.startsWith("2026-12"));
    assertThat(text.lines()).anyMatch(line -> line.startsWith("Caused by: "));
    assertThat(text.lines()).anyMatch(line -> line.startsWith("\tat "));
    assertThat(text).endsWith(System.lineSeparator());
  }

  @Test
  void jsonIsALineThatCanBeRead() throws Exception {
    String text = written("a" + FORGED, new RuntimeException("b" + FORGED), true);

    assertThat(text.strip()).hasLineCount(1);
    var line = MAPPER.readTree(text);
    assertThat(line.get("level").asString()).isEqualTo("ERROR");
    assertThat(line.get("formattedMessage").asString()).isEqualTo("a" + FORGED);
    assertThat(line.get("throwable").get("message").asString()).isEqualTo("b" + FORGED);
  }
}
