// SPDX-License-Identifier: Apache-2.0
package io.timewheel.clients;

import io.timewheel.clients.api.QueuesApi;
import io.timewheel.clients.api.SchedulesApi;
import io.timewheel.clients.api.TimersApi;
import io.timewheel.clients.invoker.ApiClient;
import io.timewheel.clients.invoker.ApiException;
import io.timewheel.clients.model.Ack;
import io.timewheel.clients.model.Cancelled;
import io.timewheel.clients.model.Claim;
import io.timewheel.clients.model.Firing;
import io.timewheel.clients.model.Firings;
import io.timewheel.clients.model.QueueTarget;
import io.timewheel.clients.model.Schedule;
import io.timewheel.clients.model.State;
import io.timewheel.clients.model.Target;
import io.timewheel.clients.model.Timer;
import io.timewheel.clients.model.TimerRequest;
import java.util.Map;

/** The life of a timer by the generated client: created, read, claimed, acked and cancelled. */
public final class Life {
  private static final String NAMESPACE = "clients";
  private static final String QUEUE = "java";

  private Life() {}

  /**
   * Runs against a server.
   *
   * @param arguments the URL of the server
   */
  public static void main(String[] arguments) throws ApiException {
    ApiClient client = new ApiClient();
    client.updateBaseUri(arguments[0]);
    TimersApi timers = new TimersApi(client);
    QueuesApi queues = new QueuesApi(client);
    Target target = new Target(new QueueTarget().queue(QUEUE));

    Timer created =
        timers.putTimer(
            NAMESPACE,
            "java/1",
            new TimerRequest().after("PT0S").target(target).payload(Map.of("order", 42)),
            null,
            null,
            null);
    check(created.getId().equals("java/1"), created);
    Timer read = timers.getTimer(NAMESPACE, "java/1");
    check(read.getVersion().equals(created.getVersion()), read);
    check(QUEUE.equals(read.getTarget().getQueue()), read);

    Firings claimed =
        queues.claim(NAMESPACE, QUEUE, new Claim().max(1L).wait("PT20S").leaseDuration("PT30S"));
    check(claimed.getFirings().size() == 1, claimed);
    Firing firing = claimed.getFirings().get(0);
    check(Map.of("order", 42).equals(firing.getPayload()), firing);
    check(queues.listQueues(NAMESPACE, null, null).getQueues().get(0).getRunning() == 1, firing);
    queues.ack(NAMESPACE, firing.getFireId(), new Ack().leaseToken(firing.getLeaseToken()), null);
    check(timers.getTimer(NAMESPACE, "java/1").getState() == State.COMPLETED, firing);

    timers.putTimer(
        NAMESPACE,
        "java/2",
        new TimerRequest().cron("0 9 * * MON-FRI").zone("Europe/Berlin").target(target),
        null,
        "*",
        null);
    Cancelled cancelled = timers.cancelTimer(NAMESPACE, "java/2", null, null);
    check(cancelled.getOutcome() == Cancelled.OutcomeEnum.CANCELLED, cancelled);
    check(
        new SchedulesApi(client)
                .previewSchedule(new Schedule().every("PT1H").count(3L))
                .getNext()
                .size()
            == 3,
        "preview");
    try {
      timers.getTimer(NAMESPACE, "none");
      throw new AssertionError("a timer that is not there");
    } catch (ApiException e) {
      check(e.getCode() == 404 && e.getResponseBody().contains("problem:not_found"), e);
    }
    System.out.println("java: created, read, claimed, acked and cancelled");
  }

  private static void check(boolean holds, Object seen) {
    if (!holds) {
      throw new AssertionError(String.valueOf(seen));
    }
  }
}
