// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.net.ServerSocket;
import java.util.concurrent.TimeoutException;
import org.asynchttpclient.AsyncHttpClient;
import org.asynchttpclient.Dsl;

/** Sends HTTP requests that time out. */
final class AsyncHttpClientApplication {
  private AsyncHttpClientApplication() {}

  public static void main(String[] arguments) throws Exception {
    try (ServerSocket silent = UnansweredRequests.silentServer();
        AsyncHttpClient client =
            Dsl.asyncHttpClient(
                Dsl.config().setRequestTimeout(UnansweredRequests.LIMIT).setMaxRequestRetry(0))) {
      String url = "http://127.0.0.1:" + silent.getLocalPort() + "/";
      UnansweredRequests.send(
          () -> client.prepareGet(url).execute().toCompletableFuture(), TimeoutException.class);
    }
  }
}
