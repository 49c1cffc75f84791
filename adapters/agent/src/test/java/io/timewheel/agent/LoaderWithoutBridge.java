// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/** A system class loader that loads the agent, but not the class that changed timers call. */
public final class LoaderWithoutBridge extends URLClassLoader {
  /**
   * Called by the JVM.
   *
   * @param parent the loader of the class path
   */
  public LoaderWithoutBridge(ClassLoader parent) {
    super(new URL[0], parent);
  }

  /** Called by the JVM with the agent's jar. */
  void appendToClassPathForInstrumentation(String path) throws MalformedURLException {
    addURL(Path.of(path).toUri().toURL());
  }

  @Override
  public Class<?> loadClass(String name) throws ClassNotFoundException {
    if (name.equals("io.timewheel.agent.Bridge")) {
      throw new ClassNotFoundException(name);
    }
    return super.loadClass(name);
  }
}
