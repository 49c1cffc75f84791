// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of a store and the shards that they own.
 *
 * @param store the name of the store
 * @param shared whether several nodes may share the store
 * @param truncated whether nodes or names of handlers are left out
 * @param nodes the nodes
 * @param shards the shards
 */
public record ClusterAnswer(
    @Nullable String store,
    boolean shared,
    boolean truncated,
    List<Node> nodes,
    List<Shard> shards) {

  /**
   * A node.
   *
   * @param id its ID
   * @param self whether it is the node that answers
   * @param address its address; only of the node that answers
   * @param version its version; only of the node that answers
   * @param startedAt its start; only of the node that answers
   * @param leaseUntil the end of its node lease; only of a shared store
   * @param clockOffset the difference of its clock from that of the store
   * @param alive whether its node lease is valid
   * @param client whether it owns no shards
   * @param handlers the names of its handlers; a prefix ends with {@code *}
   * @param shards the numbers of its shards
   */
  public record Node(
      String id,
      boolean self,
      @Nullable String address,
      @Nullable String version,
      @Nullable Instant startedAt,
      @Nullable Instant leaseUntil,
      Duration clockOffset,
      boolean alive,
      boolean client,
      List<String> handlers,
      List<Integer> shards) {}

  /**
   * A shard.
   *
   * @param shard its number
   * @param owner the ID of its owner
   * @param epoch its epoch; absent before its first owner
   */
  public record Shard(int shard, @Nullable String owner, @Nullable Long epoch) {}
}
