// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.rolling.FixedWindowRollingPolicy;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy;
import ch.qos.logback.core.util.Duration;
import ch.qos.logback.core.util.FileSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Configures the logs of a server. A client uses {@code logback.xml} unchanged. */
public final class LogOutput {
  /** The logger of the audit log. */
  public static final String AUDIT = "timewheel.audit";

  /** The default size of all files of the audit log together. */
  public static final String AUDIT_SIZE = "1GB";

  private static final long MIN_AUDIT_SIZE = FileSize.MB_COEFFICIENT;
  private static final int FILES = 10;

  private LogOutput() {}

  /** The format of the log on standard error. */
  public enum Form {
    text,
    json
  }

  /**
   * Configures the logs.
   *
   * @param form the format of standard error
   * @param audit the file of the audit log; null for standard error
   * @param auditSize the size of all its files together
   * @throws IOException if that file cannot be written
   */
  public static void direct(Form form, @Nullable Path audit, FileSize auditSize)
      throws IOException {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    if (form == Form.json) {
      var stderr =
          (OutputStreamAppender<ILoggingEvent>)
              context.getLogger(Logger.ROOT_LOGGER_NAME).getAppender("stderr");
      stderr.stop();
      stderr.setEncoder(json(context));
      stderr.start();
    }
    if (audit != null) {
      Logger logger = context.getLogger(AUDIT);
      logger.addAppender(file(context, audit, auditSize.getSize()));
      logger.setAdditive(false);
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

  /** Appends to a file. It is the latest of ten; a new one replaces the oldest. */
  static RollingFileAppender<ILoggingEvent> file(LoggerContext context, Path file, long size)
      throws IOException {
    if (size < MIN_AUDIT_SIZE) {
      throw new IOException("--audit-log-size: " + size + " bytes are too few (minimum: 1MB)");
    }
    Path parent = file.toAbsolutePath().getParent();
    if (Files.isDirectory(file) || !Files.isWritable(Files.exists(file) ? file : parent)) {
      throw new IOException("--audit-log: " + file + " cannot be written");
    }
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern("%msg%n");
    encoder.start();
    RollingFileAppender<ILoggingEvent> appender = new RollingFileAppender<>();
    appender.setContext(context);
    appender.setName("audit");
    appender.setFile(file.toString());
    appender.setEncoder(encoder);
    FixedWindowRollingPolicy policy = new FixedWindowRollingPolicy();
    policy.setContext(context);
    policy.setParent(appender);
    policy.setFileNamePattern(file + ".%i"); // compression would stop all writers for a second
    policy.setMinIndex(1);
    policy.setMaxIndex(FILES - 1);
    policy.start();
    SizeBasedTriggeringPolicy<ILoggingEvent> full = new SizeBasedTriggeringPolicy<>();
    full.setContext(context);
    // Less than a tenth, because the last line of each file may exceed its size.
    full.setMaxFileSize(new FileSize(size / (FILES + 1)));
    full.setCheckIncrement(Duration.buildByMilliseconds(0)); // check at each line
    full.start();
    appender.setRollingPolicy(policy);
    appender.setTriggeringPolicy(full);
    appender.start();
    if (!appender.isStarted()) {
      throw new IOException("--audit-log: " + file + " cannot be written");
    }
    return appender;
  }
}
