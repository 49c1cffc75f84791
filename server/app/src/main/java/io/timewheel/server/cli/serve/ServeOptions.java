// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli.serve;

import io.timewheel.server.settings.ServerConfig;
import java.io.IOException;
import picocli.CommandLine.ArgGroup;

/**
 * The settings of a server, from the command line, the environment or the file. Each group of
 * options is a section of the help.
 */
final class ServeOptions {
  @ArgGroup(exclusive = false, order = 1, heading = "%nNetwork, TLS and tokens:%n")
  NetworkOptions network = new NetworkOptions();

  @ArgGroup(exclusive = false, order = 2, heading = "%nStore:%n")
  StoreOptions store = new StoreOptions();

  @ArgGroup(exclusive = false, order = 3, heading = "%nLimits and retention:%n")
  LimitOptions limits = new LimitOptions();

  @ArgGroup(exclusive = false, order = 4, heading = "%nWebhooks and failed timers:%n")
  WebhookOptions webhooks = new WebhookOptions();

  @ArgGroup(exclusive = false, order = 5, heading = "%nBackups:%n")
  BackupOptions backups = new BackupOptions();

  @ArgGroup(exclusive = false, order = 6, heading = "%nLogs:%n")
  LogOptions logs = new LogOptions();

  /** Refuses values that are out of range, without access to files. */
  void check() {
    network.check();
    store.check();
    limits.check();
  }

  /** {@return the address and the limits of the server} */
  ServerConfig config() throws IOException {
    ServerConfig loopback = ServerConfig.loopback(network.port);
    return new ServerConfig(
        network.listen,
        network.port,
        network.hosts(),
        network.ingress(),
        loopback.maxConnections(),
        limits.maxWaitingClaims,
        limits.maxStreams,
        loopback.maxBodyBytes(),
        loopback.maxBodyTime(),
        loopback.work().withStoreTimeout(store.storeTimeout));
  }
}
