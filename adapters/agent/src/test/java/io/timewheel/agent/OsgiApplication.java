// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.nio.file.Path;
import java.util.Map;
import org.apache.felix.framework.FrameworkFactory;
import org.osgi.framework.Bundle;
import org.osgi.framework.Constants;
import org.osgi.framework.launch.Framework;

/** Runs the {@link NettyApplication} of the bundle in the first argument in an OSGi framework. */
final class OsgiApplication {
  private OsgiApplication() {}

  public static void main(String[] arguments) throws Exception {
    Path bundleFile = Path.of(arguments[0]);
    Framework framework =
        new FrameworkFactory()
            .newFramework(
                Map.of(
                    Constants.FRAMEWORK_STORAGE,
                    bundleFile.resolveSibling("framework").toString()));
    framework.start();
    Bundle bundle = framework.getBundleContext().installBundle(bundleFile.toUri().toString());
    bundle.start();
    try {
      bundle.loadClass("io.timewheel.agent.Bridge");
    } catch (ClassNotFoundException e) {
      System.out.println("the bundle does not see the agent");
    }
    bundle
        .loadClass(NettyApplication.class.getName())
        .getMethod("main", String[].class)
        .invoke(null, (Object) new String[0]);
    framework.stop();
    framework.waitForStop(0);
  }
}
