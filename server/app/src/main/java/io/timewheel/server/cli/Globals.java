// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.ExitCode;
import io.timewheel.server.settings.PemFile;
import io.timewheel.server.settings.SecretFile;
import io.timewheel.server.settings.Settings;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The options that every client command accepts, anywhere on the line. */
final class Globals {
  /** The characters of a bearer token (RFC 6750). The pattern accepts {@code =} in any position. */
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/=-]+");

  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|127\\.[0-9.]+|\\[::1]", Pattern.CASE_INSENSITIVE);

  /** The format of a result. */
  enum Form {
    table,
    json
  }

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec spec;

  @Option(
      names = "--server",
      scope = ScopeType.INHERIT,
      paramLabel = "URL",
      defaultValue = "http://127.0.0.1:7400",
      description = "URL of the server (default: ${DEFAULT-VALUE}).")
  private URI server = URI.create("http://127.0.0.1:7400");

  @Option(
      names = "--ca-cert",
      scope = ScopeType.INHERIT,
      paramLabel = "FILE",
      description = "Trust only the authorities in this PEM file.")
  private @Nullable Path caCert;

  @Option(
      names = {"-o", "--output"},
      scope = ScopeType.INHERIT,
      paramLabel = "FORM",
      defaultValue = "table",
      description = "Print as ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private Form form = Form.table;

  @Option(
      names = "--token-file",
      scope = ScopeType.INHERIT,
      paramLabel = "FILE",
      description = "Read the token from this file (or set TIMEWHEEL_TOKEN).")
  private @Nullable Path tokenFile;

  ApiClient client() {
    String scheme = server.getScheme();
    String host = server.getHost();
    boolean web = "http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme);
    if (!web
        || host == null
        || server.getPort() > Settings.MAX_PORT
        || server.getRawUserInfo() != null) {
      throw usage("--server: " + server + " (expected: one like http://127.0.0.1:7400)");
    }
    String token = token();
    if (token != null && "http".equalsIgnoreCase(scheme) && !LOOPBACK.matcher(host).matches()) {
      err()
          .println(
              "timewheel: the token is sent in clear text to " + server + " (expected: https)");
    }
    return new ApiClient(server, token, trust());
  }

  /** {@return the trusted certificates of servers; null for the default of the JDK} */
  private @Nullable SSLContext trust() {
    if (caCert == null) {
      return null;
    }
    try {
      KeyStore authorities = KeyStore.getInstance("PKCS12");
      authorities.load(null, null);
      for (X509Certificate authority : PemFile.certificates(caCert)) {
        authorities.setCertificateEntry("ca-" + authorities.size(), authority);
      }
      TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
      trusted.init(authorities);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trusted.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new CommandException(ExitCode.FAILED, "--ca-cert: " + CommandException.reason(e));
    }
  }

  Printer printer() {
    return new Printer(out(), form == Form.json);
  }

  java.io.PrintWriter out() {
    return checked().commandLine().getOut();
  }

  java.io.PrintWriter err() {
    return checked().commandLine().getErr();
  }

  ParameterException usage(String message) {
    return new ParameterException(checked().commandLine(), message);
  }

  private CommandSpec checked() {
    if (spec == null) {
      throw new IllegalStateException("not on a command line");
    }
    return spec;
  }

  private @Nullable String token() {
    if (tokenFile == null) {
      String token = System.getenv(Settings.TOKEN);
      return token == null || token.isBlank() ? null : valid(token, Settings.TOKEN);
    }
    try {
      return valid(new SecretFile(tokenFile).read(), "--token-file: " + tokenFile);
    } catch (IOException e) {
      throw new CommandException(
          ExitCode.FAILED,
          "--token-file: " + tokenFile + " cannot be read: " + CommandException.reason(e));
    }
  }

  /** Checks the characters of a token. Its source is part of the error. */
  private static String valid(String text, String source) {
    String token = text.strip();
    if (!TOKEN.matcher(token).matches()) {
      throw new CommandException(
          ExitCode.FAILED,
          source + ": contains no token (expected: one line of letters, digits and . _ ~ + / = -)");
    }
    return token;
  }
}
