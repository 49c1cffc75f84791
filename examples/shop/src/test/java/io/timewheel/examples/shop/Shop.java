// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.shop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.testing.Database;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.json.JsonMapper;

/** The shop in a separate JVM, used over HTTP. */
final class Shop {
  private static final Pattern STARTED = Pattern.compile("Tomcat started on port (\\d+)");
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final Process process;
  private final String url;

  private Shop(Process process, String url) {
    this.process = process;
    this.url = url;
  }

  /** Starts the shop on a database, on a free port, and waits until it is up. */
  static Shop start(Database database, Duration payWithin) throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                ShopApplication.class.getName(),
                "--server.port=0",
                "--shop.pay-within=" + payWithin,
                "--spring.datasource.url=" + database.url(),
                "--spring.datasource.username=" + database.user(),
                "--spring.datasource.password=" + database.password())
            .redirectErrorStream(true)
            .start();
    List<String> log = new ArrayList<>();
    BufferedReader lines = process.inputReader(UTF_8);
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      log.add(line);
      Matcher started = STARTED.matcher(line);
      if (started.find()) {
        discardRest(lines);
        return new Shop(process, "http://localhost:" + started.group(1));
      }
    }
    throw new IOException("did not start:\n" + String.join("\n", log));
  }

  /** Continues to read the output, so that the pipe does not fill up. */
  private static void discardRest(BufferedReader lines) {
    Thread reader =
        new Thread(
            () -> {
              try {
                lines.transferTo(Writer.nullWriter());
              } catch (IOException e) {
                // The process was killed.
              }
            });
    reader.setDaemon(true);
    reader.start();
  }

  /** Kills the shop without notice. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  Order place() throws IOException, InterruptedException {
    return ask("POST", "/orders");
  }

  Order pay(String id) throws IOException, InterruptedException {
    return ask("POST", "/orders/" + id + "/payment");
  }

  private Order ask(String method, String path) throws IOException, InterruptedException {
    HttpResponse<String> response =
        HTTP.send(
            HttpRequest.newBuilder(URI.create(url + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JsonMapper.shared().readValue(response.body(), Order.class);
  }
}
