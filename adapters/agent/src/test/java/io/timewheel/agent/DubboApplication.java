// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.dubbo.common.URL;
import org.apache.dubbo.common.utils.NetUtils;
import org.apache.dubbo.remoting.Client;
import org.apache.dubbo.remoting.TimeoutException;
import org.apache.dubbo.remoting.Transporters;
import org.apache.dubbo.remoting.exchange.ExchangeClient;
import org.apache.dubbo.remoting.exchange.Request;
import org.apache.dubbo.remoting.exchange.support.ExchangeHandlerAdapter;
import org.apache.dubbo.remoting.exchange.support.header.HeaderExchangeClient;
import org.apache.dubbo.remoting.exchange.support.header.HeaderExchangeHandler;
import org.apache.dubbo.rpc.AppResponse;
import org.apache.dubbo.rpc.AsyncRpcResult;
import org.apache.dubbo.rpc.Invocation;
import org.apache.dubbo.rpc.Invoker;
import org.apache.dubbo.rpc.RpcException;
import org.apache.dubbo.rpc.RpcInvocation;
import org.apache.dubbo.rpc.cluster.directory.StaticDirectory;
import org.apache.dubbo.rpc.cluster.support.FailbackClusterInvoker;
import org.apache.dubbo.rpc.model.ApplicationModel;
import org.apache.dubbo.rpc.model.FrameworkModel;
import org.apache.dubbo.rpc.model.ServiceModel;

/** Uses three timers of Dubbo: for heartbeats, for timeouts, and for retries of failed calls. */
final class DubboApplication {
  private DubboApplication() {}

  public static void main(String[] arguments) throws Exception {
    // Dubbo connects to this address even if its URL contains 127.0.0.1.
    InetAddress host = InetAddress.getByName(NetUtils.getLocalHost());
    try (ServerSocket silent = new ServerSocket(0, 100, host)) {
      URL url =
          URL.valueOf(
                  "dubbo://127.0.0.1:" + silent.getLocalPort() + "?codec=exchange&heartbeat=1000")
              .setScopeModel(ApplicationModel.defaultModel().getDefaultModule());
      CountDownLatch heartbeat = new CountDownLatch(1);
      CountDownLatch retry = new CountDownLatch(1);
      ExchangeClient client = new HeaderExchangeClient(connect(url, heartbeat), true);
      FailbackClusterInvoker<Runnable> cluster = failback(url, retry);
      cluster.invoke(
          new RpcInvocation(
              (ServiceModel) null, "run", "Runnable", "service", new Class<?>[0], new Object[0]));
      UnansweredRequests.send(
          () ->
              client.request(
                  "request", (int) UnansweredRequests.LIMIT.toMillis(), ForkJoinPool.commonPool()),
          TimeoutException.class);
      heartbeat.await();
      System.out.println("heartbeat sent: true");
      retry.await();
      System.out.println("call retried: true");
      cluster.destroy();
      client.close();
    }
    FrameworkModel.destroyAll();
  }

  /**
   * Connects without the idle check of Netty's pipeline, as with a transport that has none. The
   * exchange client then sends heartbeats from its own timer.
   */
  private static Client connect(URL url, CountDownLatch heartbeat) throws Exception {
    Client client =
        Transporters.connect(
            url,
            new HeaderExchangeHandler(
                new ExchangeHandlerAdapter(FrameworkModel.defaultModel()) {}));
    return (Client)
        Proxy.newProxyInstance(
            Client.class.getClassLoader(),
            new Class<?>[] {Client.class},
            (proxy, method, values) -> {
              if (method.getName().equals("canHandleIdle")) {
                return false;
              }
              if (values != null && values[0] instanceof Request sent && sent.isHeartbeat()) {
                heartbeat.countDown();
              }
              try {
                return method.invoke(client, values);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** Makes a cluster with a server that fails the first call. Dubbo retries it after 5 s. */
  private static FailbackClusterInvoker<Runnable> failback(URL url, CountDownLatch retry) {
    AtomicInteger calls = new AtomicInteger();
    Invoker<Runnable> server =
        new Invoker<>() {
          @Override
          public Class<Runnable> getInterface() {
            return Runnable.class;
          }

          @Override
          public AsyncRpcResult invoke(Invocation invocation) {
            if (calls.getAndIncrement() == 0) {
              throw new RpcException("the first call fails");
            }
            retry.countDown();
            return AsyncRpcResult.newDefaultAsyncResult(new AppResponse(), invocation);
          }

          @Override
          public URL getUrl() {
            return url;
          }

          @Override
          public boolean isAvailable() {
            return true;
          }

          @Override
          public void destroy() {}
        };
    return new FailbackClusterInvoker<>(new StaticDirectory<>(url, List.of(server)));
  }
}
