// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli.serve;

import ch.qos.logback.core.util.FileSize;
import io.timewheel.server.security.AuditFile;
import io.timewheel.server.security.AuditLog;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.LogOutput;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options for the logs of a server. */
final class LogOptions {
  @Option(
      names = "--log-format",
      paramLabel = "FORM",
      description =
          "Log to standard error as ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
      defaultValue = "text")
  private LogOutput.Form logFormat = LogOutput.Form.text;

  @Option(
      names = "--audit-log",
      paramLabel = "FILE",
      description = "Write the audit log here (default: standard error).")
  private @Nullable Path auditLog;

  @Option(
      names = "--audit-log-size",
      paramLabel = "SIZE",
      description = "Limit all files of the audit log (default: ${DEFAULT-VALUE}, min: 1MB).",
      defaultValue = LogOutput.AUDIT_SIZE,
      converter = SizeConverter.class)
  private FileSize auditLogSize = FileSize.valueOf(LogOutput.AUDIT_SIZE);

  @Option(
      names = "--audit-required",
      description = "Refuse changes while --audit-log cannot be written.")
  private boolean auditRequired;

  /** Configures the logs of the process. */
  void direct() {
    LogOutput.direct(logFormat);
  }

  AuditLog audit() throws IOException {
    if (auditLog != null) {
      AuditFile file = new AuditFile(auditLog, auditLogSize.getSize());
      return new AuditLog(System::nanoTime, file, auditRequired);
    }
    if (auditRequired) {
      throw CommandException.wrongUsage("--audit-required: needs --audit-log");
    }
    return new AuditLog(System::nanoTime);
  }

  /** Parses a number of bytes. */
  private static final class SizeConverter implements ITypeConverter<FileSize> {
    @Override
    public FileSize convert(String text) {
      try {
        return FileSize.valueOf(text.strip());
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(text + " (expected: such as 500MB or 1GB)");
      }
    }
  }
}
