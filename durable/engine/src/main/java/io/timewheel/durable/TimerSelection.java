// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.spi.TimerOrder;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The timers of a scheduler that match a filter. A command reads them by page, changes each on its
 * own, and returns the number of changed timers. If a change fails, the command throws its failure;
 * the timers of earlier pages are changed by then.
 */
public final class TimerSelection extends TimerCommands<Long, Long> {
  private static final int MAX_PAGE = 10_000;
  private static final int PAGE = 1_000;

  private final Requests requests;
  private final TimerFilter filter;

  TimerSelection(Requests requests, TimerFilter filter) {
    super(
        requests.changes,
        call ->
            changed(
                requests,
                filter,
                call,
                result -> result.outcome() == CancelResult.Outcome.CANCELLED),
        call -> changed(requests, filter, call, VerbResult.DONE::equals));
    this.requests = requests;
    this.filter = filter;
    if (filter.order() != TimerOrder.ID && filter.query().namespace() == null) {
      throw new IllegalArgumentException("order: " + filter.order() + " (expected: a namespace)");
    }
  }

  /**
   * Lists the timers, in the order of namespace and id unless the filter sets another order. Timers
   * that are added or removed during the listing may be missing. All others are returned exactly
   * once.
   *
   * @param pageSize the largest number of timers on the page, 1 to 10,000
   * @param page the token of a page of the same list, or null for the first page
   * @return a page; a page that is not the last may contain fewer timers, or none
   * @throws IllegalArgumentException if the token is invalid or belongs to another list
   */
  public TimerList list(int pageSize, @Nullable String page) {
    Limits.count("pageSize", pageSize, MAX_PAGE);
    return requests.list(filter, page == null ? null : TimerList.parse(filter, page), pageSize);
  }

  private static <T> long changed(
      Requests requests,
      TimerFilter filter,
      Changes.Call<TimerKey, T> call,
      Predicate<T> isChanged) {
    TimerSelection timers =
        new TimerSelection(
            requests, filter.withoutPayload().order(TimerOrder.ID)); // a move keeps it
    long changed = 0;
    String next = null;
    do {
      TimerList page = timers.list(PAGE, next);
      List<TimerKey> keys = page.timers().stream().map(TimerInfo::key).toList();
      changed +=
          requests.await(requests.all(keys, call)).stream()
              .map(BatchResult::orThrow)
              .filter(isChanged)
              .count();
      next = page.nextPage().orElse(null);
    } while (next != null);
    return changed;
  }
}
