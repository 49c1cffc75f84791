// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.settings.TlsFiles;
import io.timewheel.server.settings.WatchedFile;
import java.io.IOException;
import java.security.KeyStore;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.Scheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificate of the port. After a change of the files, new connections use the new pair. If
 * the new pair is invalid, the old pair stays in use.
 */
final class TlsContext {
  private static final Logger LOG = LoggerFactory.getLogger(TlsContext.class);
  private static final long CHECK_SECONDS = 2;

  private final WatchedFile<KeyStore> files;
  private final SslContextFactory.Server factory;
  private KeyStore served;

  TlsContext(TlsFiles tls) throws IOException {
    files =
        new WatchedFile<>(
            tls.key(),
            List.of(tls.certificate()),
            file -> checked(tls.read()),
            InstantSource.system());
    served = files.content();
    factory = factory(served);
  }

  SslContextFactory.Server factory() {
    return factory;
  }

  private static SslContextFactory.Server factory(KeyStore keys) {
    SslContextFactory.Server made = new SslContextFactory.Server();
    made.setKeyStore(keys);
    made.setKeyStorePassword(TlsFiles.PASSWORD);
    made.setRenegotiationAllowed(false);
    return made;
  }

  /**
   * Checks the pair first, because a failed reload would leave the factory without a certificate.
   */
  private static KeyStore checked(KeyStore keys) throws IOException {
    SslContextFactory.Server trial = factory(keys);
    try {
      trial.start();
      trial.stop();
      return keys;
    } catch (Exception e) {
      throw new IOException("the certificate cannot be served: " + e.getMessage(), e);
    }
  }

  /** Checks the files from now on, until the scheduler stops. */
  void watch(Scheduler scheduler) {
    scheduler.schedule(
        () -> {
          watch(scheduler); // first, so that no failure ends the checks
          refresh();
        },
        CHECK_SECONDS,
        TimeUnit.SECONDS);
  }

  private synchronized void refresh() {
    KeyStore found = files.content();
    if (found != served) {
      try {
        factory.reload(each -> each.setKeyStore(found));
        served = found;
      } catch (Exception e) {
        LOG.error("The changed certificate cannot be served", e);
      }
    }
  }
}
