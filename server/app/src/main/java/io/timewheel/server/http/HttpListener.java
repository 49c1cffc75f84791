// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.settings.TlsFiles;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.jspecify.annotations.Nullable;

/** Opens the port of a server, accepts connections, and passes each request to the pipeline. */
public final class HttpListener {
  private static final int MAX_HEADER_BYTES = 16 * 1024;

  /** The smallest buffer of the pool. */
  static final int INPUT_BUFFER_BYTES = 4_096;

  /** Data in this buffer of the system counts as delivered, and takes memory until it is read. */
  private static final int SEND_BUFFER_BYTES = 64 * 1024;

  /** Longer than the longest wait of a claim. */
  private static final Duration IDLE = Duration.ofSeconds(75);

  private final Server jetty;
  private final ServerConnector connector;
  private final Connections connections;
  private final @Nullable TlsContext tls;

  /** Creates a listener; throws if the certificate of the port cannot be used. */
  public HttpListener(ServerConfig config, Connections connections, RequestPipeline pipeline)
      throws IOException {
    TlsFiles files = config.ingress().tls();
    tls = files == null ? null : new TlsContext(files);
    this.connections = connections;
    QueuedThreadPool threads = new QueuedThreadPool(config.work().threads(), 4);
    threads.setName("timewheel-http");
    threads.setStopTimeout(1_000); // requests in progress had their time before
    jetty = new Server(threads);
    HttpConfiguration configuration = http();
    if (tls != null) {
      // The names in the certificate do not limit the host of a request; OriginCheck does.
      configuration.addCustomizer(new SecureRequestCustomizer(false));
    }
    HttpConnectionFactory http = new HttpConnectionFactory(configuration);
    connector =
        tls == null
            ? new ServerConnector(jetty, 1, 1, http)
            : new ServerConnector(
                jetty, 1, 1, new SslConnectionFactory(tls.factory(), http.getProtocol()), http);
    connector.setHost(config.listen());
    connector.setPort(config.port());
    connector.setIdleTimeout(IDLE.toMillis());
    connector.setAcceptQueueSize(1_024);
    connector.setAcceptedSendBufferSize(SEND_BUFFER_BYTES);
    jetty.addConnector(connector);
    connector.addBean(connections);
    jetty.addBean(
        new NetworkConnectionLimit(config.maxConnections() + Connections.REFUSED, connector));
    jetty.setErrorHandler(new ErrorResponder());
    jetty.setHandler(new GracefulHandler(pipeline));
  }

  private static HttpConfiguration http() {
    HttpConfiguration http = new HttpConfiguration();
    http.setSendServerVersion(false);
    http.setRequestHeaderSize(MAX_HEADER_BYTES);
    // Paths are split in their encoded form, so that an encoded slash is part of an ID.
    http.setUriCompliance(UriCompliance.UNSAFE);
    // A waiting claim keeps the buffer of its body. Thousands of them fit into the heap, but not
    // into the remaining memory for direct buffers.
    http.setUseInputDirectByteBuffers(false);
    http.setInputBufferSize(INPUT_BUFFER_BYTES);
    return http;
  }

  /** Opens the port. */
  public void start() throws IOException {
    try {
      connector.open();
      jetty.start();
      connections.watch(connector.getScheduler());
      if (tls != null) {
        tls.watch(connector.getScheduler());
      }
    } catch (IOException e) {
      connector.close();
      throw e;
    } catch (Exception e) {
      throw new IOException("the server did not start", e);
    }
  }

  public int port() {
    return connector.getLocalPort();
  }

  /** {@return the threads that serve requests} */
  public Executor executor() {
    return jetty.getThreadPool();
  }

  /** Accepts no more requests, and waits this long for those in progress. */
  public void stop(Duration shutdownTimeout) {
    jetty.setStopTimeout(Math.max(1, shutdownTimeout.toMillis()));
    try {
      jetty.stop();
    } catch (Exception e) {
      throw new IllegalStateException("the server did not stop cleanly", e);
    }
  }
}
