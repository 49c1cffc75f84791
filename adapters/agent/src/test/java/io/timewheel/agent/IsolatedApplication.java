// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Runs {@link NettyApplication} in a class loader whose parent is the platform class loader. */
final class IsolatedApplication {
  private IsolatedApplication() {}

  public static void main(String[] arguments) throws Exception {
    String option = arguments.length > 2 ? arguments[2] : "";
    URL[] path = {url(arguments[0]), url(arguments[1])};
    ClassLoader isolated =
        new URLClassLoader(path, ClassLoader.getPlatformClassLoader()) {
          @Override
          public @Nullable InputStream getResourceAsStream(String name) {
            return option.equals("no-resources") ? null : super.getResourceAsStream(name);
          }
        };
    System.out.println("sees the agent: " + sees(isolated, "io.timewheel.agent.Bridge"));
    isolated
        .loadClass(NettyApplication.class.getName())
        .getMethod("main", String[].class)
        .invoke(null, (Object) new String[0]);
    if (option.equals("and-here")) {
      NettyApplication.main(new String[0]);
    }
  }

  private static URL url(String path) throws MalformedURLException {
    return Path.of(path).toUri().toURL();
  }

  private static boolean sees(ClassLoader loader, String name) {
    try {
      loader.loadClass(name);
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }
}
