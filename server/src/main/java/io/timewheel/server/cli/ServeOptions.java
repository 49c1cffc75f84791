// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.server.settings.ServerConfig;
import java.io.IOException;
import picocli.CommandLine.ArgGroup;

/**
 * The settings of a server, from the command line, the environment or the file. Each group of
 * options is a section of the help.
 */
public final class ServeOptions {
  @ArgGroup(exclusive = false, order = 1, heading = "%nNetwork, TLS and tokens:%n")
  private NetworkOptions network = new NetworkOptions();

  @ArgGroup(exclusive = false, order = 2, heading = "%nStore:%n")
  private StoreOptions store = new StoreOptions();

  @ArgGroup(exclusive = false, order = 3, heading = "%nLimits and retention:%n")
  private LimitOptions limits = new LimitOptions();

  @ArgGroup(exclusive = false, order = 4, heading = "%nWebhooks and failed timers:%n")
  private WebhookOptions webhooks = new WebhookOptions();

  @ArgGroup(exclusive = false, order = 5, heading = "%nBackups:%n")
  private BackupOptions backups = new BackupOptions();

  @ArgGroup(exclusive = false, order = 6, heading = "%nLogs:%n")
  private LogOptions logs = new LogOptions();

  public NetworkOptions network() {
    return network;
  }

  public StoreOptions store() {
    return store;
  }

  public LimitOptions limits() {
    return limits;
  }

  public WebhookOptions webhooks() {
    return webhooks;
  }

  public BackupOptions backups() {
    return backups;
  }

  public LogOptions logs() {
    return logs;
  }

  /**
   * {@return the address and the limits of the server}
   *
   * @throws IOException if the certificate of the port cannot be used
   */
  public ServerConfig config() throws IOException {
    limits.check();
    ServerConfig loopback = ServerConfig.loopback(network.port());
    return new ServerConfig(
        network.listen(),
        network.port(),
        network.hosts(),
        network.ingress(),
        loopback.maxConnections(),
        limits.maxWaitingClaims(),
        limits.maxStreams(),
        loopback.maxBodyBytes(),
        loopback.maxBodyTime(),
        loopback.work().withStoreTimeout(store.timeout()));
  }
}
