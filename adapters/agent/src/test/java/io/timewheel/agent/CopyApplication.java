// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Uses the timer of the package in the first argument. */
final class CopyApplication {
  private CopyApplication() {}

  public static void main(String[] arguments) throws Exception {
    Class<?> timerClass = Class.forName(arguments[0] + "HashedWheelTimer");
    Class<?> taskClass = Class.forName(arguments[0] + "TimerTask");
    Object timer = timerClass.getConstructor().newInstance();
    System.out.println("timer: " + timer);
    CountDownLatch ran = new CountDownLatch(1);
    Object task =
        Proxy.newProxyInstance(
            taskClass.getClassLoader(),
            new Class<?>[] {taskClass},
            (proxy, method, values) -> {
              if (method.getName().equals("run")) {
                ran.countDown();
              }
              return null;
            });
    Method start = timerClass.getMethod("newTimeout", taskClass, long.class, TimeUnit.class);
    start.invoke(timer, task, 10, TimeUnit.MILLISECONDS);
    ran.await();
    System.out.println("ran: true");
    Object cancelled = start.invoke(timer, task, 1, TimeUnit.HOURS);
    System.out.println(
        "cancelled: "
            + Class.forName(arguments[0] + "Timeout")
                .getMethod("isCancelled")
                .invoke(cancel(arguments[0], cancelled)));
    start.invoke(timer, task, 1, TimeUnit.HOURS);
    System.out.println("left: " + ((Set<?>) timerClass.getMethod("stop").invoke(timer)).size());
    System.exit(0);
  }

  private static Object cancel(String packageName, Object timeout) throws Exception {
    Class.forName(packageName + "Timeout").getMethod("cancel").invoke(timeout);
    return timeout;
  }
}
