// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.Encoder;
import org.slf4j.LoggerFactory;

/** Configures the logs of a server. A client uses {@code logback.xml} unchanged. */
public final class LogOutput {
  /** The logger of the audit log. */
  public static final String AUDIT = "timewheel.audit";

  /** The default size of all files of the audit log together. */
  public static final String AUDIT_SIZE = "1GB";

  private LogOutput() {}

  /** The format of the log on standard error. */
  public enum Form {
    text,
    json
  }

  /** Configures the logs, and the format of standard error. */
  public static void direct(Form form) {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    if (form == Form.json) {
      var stderr =
          (OutputStreamAppender<ILoggingEvent>)
              context.getLogger(Logger.ROOT_LOGGER_NAME).getAppender("stderr");
      stderr.stop();
      stderr.setEncoder(json(context));
      stderr.start();
    }
  }

  static Encoder<ILoggingEvent> json(LoggerContext context) {
    JsonEncoder encoder = new JsonEncoder();
    encoder.setContext(context);
    encoder.setWithContext(false);
    encoder.setWithSequenceNumber(false);
    encoder.setWithNanoseconds(false);
    encoder.setWithMessage(false);
    encoder.setWithArguments(false);
    encoder.setWithFormattedMessage(true);
    encoder.start();
    return encoder;
  }
}
