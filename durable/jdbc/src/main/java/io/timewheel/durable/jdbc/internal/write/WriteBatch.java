// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.internal.server.RequestRows;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.HeldTimersException;
import io.timewheel.durable.spi.batch.Decision;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.RequestAnswer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Commits changes in one transaction. A {@link Decision} computes the next state of each record. A
 * write succeeds only if the record is still as it was read; otherwise the record is read again.
 * The transaction checks the fence together with the writes.
 *
 * <p>The first round locks nothing before the writes, and assumes likely records instead of reading
 * them. A scheduled timer is likely new, and a claimed timer is likely unchanged since the claim.
 * Later rounds lock the records in the order of their keys. So the common case takes two round
 * trips plus COMMIT. A long list may be inserted as entirely new. If it is not, the transaction
 * fails, and the next one locks from the first round on.
 *
 * <p>A transaction of a user may hold a timer for any time. The other timers of a batch do not wait
 * for it. After a lock timeout, the next try waits for no lock, and leaves claims of held timers to
 * the next sweep of their owner. If the batch has other changes of held timers, it fails with a
 * {@link HeldTimersException} that lists these timers.
 *
 * <p>One object serves all tries of one commit, on one thread.
 */
public final class WriteBatch implements Transactions.Work<List<Outcome>> {
  private final WriteContext context;
  private final List<Change> changes;
  private final Fence fence;

  /** True if this is not the first try. */
  private boolean tried;

  /**
   * True if another transaction holds or held one of the timers. Writes then do not wait for locks.
   */
  private boolean heldUp;

  private @Nullable WriteTry last;

  /** Prepares a commit. */
  WriteBatch(WriteContext context, List<Change> changes) {
    this.context = context;
    this.changes = changes;
    fence = new Fence(context.shards(), context.ownEpoch());
  }

  private TransactionSql sql() {
    return context.server().transactions();
  }

  /** Does everything except the commit. */
  @Override
  public List<Outcome> run(Connection connection) throws SQLException {
    boolean versions =
        changes.stream()
            .anyMatch(change -> change instanceof Change.Schedule || change instanceof Change.Move);
    if (!tried) {
      heldUp = context.heldTimers().containsAny(keys());
    }
    // Several changes lock nothing in the first round only if the server waits briefly for locks,
    // or if all of them are likely to be new. Otherwise, they are locked in order.
    boolean expecting =
        !tried
            && !heldUp
            && (sql().waitsBriefly()
                || (changes.size() == 1 && !CellReads.isLeftForLater(changes.get(0)))
                || areLikelyNew());
    try (Statements to = new Statements(connection)) {
      Answer<Long> begun = sql().beginBatch(to, versions);
      var earlier = earlier(to);
      tried = true;
      long firstVersion = versions ? begun.get() : 0;
      WriteTry once =
          new WriteTry(
              context,
              to,
              changes,
              fence,
              new WriteTry.Mode(firstVersion, expecting, heldUp, false),
              earlier);
      List<Outcome> result = once.run();
      Optional<String> unused = once.transactionId(); // sends the question
      last = once;
      if (heldUp) {
        context.heldTimers().remove(keys());
        context.heldTimers().add(once.passedOver());
      }
      return result;
    } catch (SQLException e) {
      if (!heldUp && context.server().errors().isHeldUp(e)) {
        heldUp = true;
        throw new Transactions.Again();
      }
      throw e;
    }
  }

  private List<TimerKey> keys() {
    return changes.stream().map(Change::key).toList();
  }

  private boolean areLikelyNew() {
    return context.novelty().isLikely(changes.size())
        && changes.stream()
            .allMatch(
                change ->
                    change instanceof Change.Schedule schedule
                        && schedule.condition() != Change.Condition.VERSION)
        && changes.stream().map(Change::key).distinct().count() == changes.size();
  }

  @Override
  public @Nullable String transactionId(Connection connection, CommitProof same)
      throws SQLException {
    return last == null ? null : last.transactionId().orElse(null);
  }

  /**
   * Runs the batch in a transaction that has begun, and that may hold other locks.
   *
   * @param firstVersion the first version of a block for this batch
   */
  public List<Outcome> runIn(Connection connection, long firstVersion) throws SQLException {
    try (Statements to = new Statements(connection)) {
      WriteTry.Mode mode = new WriteTry.Mode(firstVersion, false, false, true);
      List<Outcome> result = new WriteTry(context, to, changes, fence, mode, earlier(to)).run();
      to.send(); // the user's statements must come after these
      return result;
    }
  }

  /** Records completions of attempts in the transaction of their handler. */
  public List<Outcome> finishIn(Statements to) throws SQLException {
    // One statement locks in the order of the keys. Several statements would together lock out of
    // order.
    boolean byOneStatement =
        changes.size() == 1 || changes.stream().allMatch(WriteBatch::isLastEnd);
    WriteTry.Mode mode = new WriteTry.Mode(0, byOneStatement, false, false);
    last = new WriteTry(context, to, changes, fence, mode, earlier(to));
    return last.run();
  }

  private static boolean isLastEnd(Change change) {
    return change instanceof Change.Finish finish
        && finish.end() == Change.Finish.End.SUCCEEDED
        && finish.nextAt() == TimerRecord.NEVER;
  }

  /** {@return the answers of requests that were committed earlier} */
  private Answer<Map<RequestRows.Key, RequestAnswer>> earlier(Statements to) throws SQLException {
    List<RequestRows.Key> keys =
        changes.stream()
            .filter(change -> change.request() != null)
            .map(change -> new RequestRows.Key(change.key(), requireNonNull(change.request()).id()))
            .distinct()
            .toList();
    return keys.isEmpty() ? () -> Map.of() : context.server().requests().find(to, keys);
  }
}
