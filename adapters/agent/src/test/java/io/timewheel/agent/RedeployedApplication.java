// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import io.timewheel.testing.Await;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import jdk.jfr.FlightRecorder;

/**
 * Runs {@link NettyApplication} in a class loader of its own while Flight Recorder is in use, and
 * waits until the class loader is collected.
 */
final class RedeployedApplication {
  private RedeployedApplication() {}

  public static void main(String[] arguments) throws Exception {
    FlightRecorder.getFlightRecorder();
    Await.collected(deploy(arguments));
    System.out.println("collected: true");
    System.exit(0);
  }

  private static WeakReference<ClassLoader> deploy(String[] path) throws Exception {
    URL[] urls = {Path.of(path[0]).toUri().toURL(), Path.of(path[1]).toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
      loader
          .loadClass(NettyApplication.class.getName())
          .getMethod("main", String[].class)
          .invoke(null, (Object) new String[0]);
      return new WeakReference<>(loader);
    }
  }
}
