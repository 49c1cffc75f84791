// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.nio.file.Path;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/**
 * Starts Tomcat with the web application in the directory of the first argument. Then runs the
 * {@link NettyApplication} of the web application and that of the server.
 */
final class TomcatApplication {
  private TomcatApplication() {}

  public static void main(String[] arguments) throws Exception {
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(Path.of(arguments[0], "server").toString());
    Context context = tomcat.addContext("", arguments[0]);
    tomcat.start(); // without a connector, so no port is open
    ClassLoader webApplication = context.getLoader().getClassLoader();
    System.out.println("class loader: " + webApplication.getClass().getSimpleName());
    webApplication
        .loadClass(NettyApplication.class.getName())
        .getMethod("main", String[].class)
        .invoke(null, (Object) new String[0]);
    tomcat.stop();
    tomcat.destroy();
    NettyApplication.main(new String[0]);
  }
}
