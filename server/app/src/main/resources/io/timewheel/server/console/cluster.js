// SPDX-License-Identifier: Apache-2.0
// The nodes, and the shards that they own.

import * as api from "./api.js";
import { h, name, put } from "./dom.js";
import { durationMillis, duration, plural } from "./format.js";
import * as live from "./live.js";
import { ago, failure, heading } from "./parts.js";

/** The clock offset from which the page warns. */
const CLOCK_WARN_MILLIS = 500;

export const title = () => "Cluster";

export function show(main, route, signal) {
  const body = h("div", { class: "cluster" });
  put(main, heading("Cluster"), body);
  let inner = new AbortController();
  let before = "";

  function draw(cluster) {
    const key = JSON.stringify(cluster);
    if (key === before) {
      return;
    }
    before = key;
    inner.abort();
    inner = new AbortController();
    const { nodes, shards } = cluster;
    const numbers = new Map(nodes.map((node, i) => [node.id, i]));
    const orphans = shards.filter((shard) => shard.owner === undefined);
    put(body,
      h("p", { class: "lead" }, cluster.shared
        ? `${plural(nodes.filter((n) => n.alive).length, "live node")} share one database. Each node fires the timers of its shards. If a node is lost, the others take over its shards when its node lease expires.`
        : "One node uses an embedded store and owns its only shard. No other node can take over. To run several nodes, start each with --store and the same database."),
      orphans.length > 0 && h("p", { class: "notice bad", role: "alert" }, `${plural(orphans.length, "shard")} without an owner. Their timers wait until a live node takes over the shards, within seconds.`),
      h("section", {}, h("h2", {}, "Nodes"),
        h("div", { class: "node-list" }, nodes.map((node, i) => nodeCard(node, i, cluster, inner.signal)))),
      h("section", {}, h("h2", {}, "Shards"),
        h("p", { class: "muted" }, cluster.shared ? "Each square is a shard, in the colour of its owner. The epoch of a shard grows each time it gets a new owner." : "The epoch of the shard grows with each start."),
        h("ol", { class: "shards" }, shards.map((shard) => {
          const owner = shard.owner === undefined ? "no node" : shard.owner;
          const colour = numbers.has(shard.owner) ? `node-${numbers.get(shard.owner) % 8}` : "node-none";
          return h("li", { class: `shard ${colour}`, title: `Shard ${shard.shard}: ${owner}, epoch ${shard.epoch}` },
            h("span", {}, shard.shard), h("span", { class: "unseen" }, ` owned by ${owner}, epoch ${shard.epoch}`));
        }))));
  }

  const refresh = live.oneAtATime(async () => {
    try {
      draw(await api.get("/v1/cluster", {}, signal));
    } catch (e) {
      if (!signal.aborted && before === "") {
        put(body, failure(e, () => show(main, route, signal)));
      }
    }
  });

  signal.addEventListener("abort", () => inner.abort());
  live.on("cluster", draw, signal);
  let seconds = 0;
  live.eachSecond(() => ++seconds % 5 === 0 && refresh(), signal);
  refresh();
}

function nodeCard(node, i, cluster, signal) {
  const offset = node.clockOffset === undefined ? NaN : durationMillis(node.clockOffset);
  const owned = cluster.shards.filter((shard) => shard.owner === node.id).length;
  const fact = (label, ...value) => h("div", {}, h("dt", {}, label), h("dd", {}, value));
  return h("article", { class: `panel node${node.alive ? "" : " lost"}` },
    h("h3", {}, h("i", { class: `swatch node-${i % 8}` }), name(node.id),
      node.self && h("span", { class: "tag" }, "this node"), node.client && h("span", { class: "tag" }, "client"), !node.alive && h("span", { class: "tag bad" }, "lost")),
    h("dl", { class: "facts" },
      node.address && fact("Address", name(node.address)),
      fact("Shards", `${owned} of ${cluster.shards.length}`),
      node.leaseUntil && fact(node.alive ? "Node lease ends" : "Node lease ended", ago(node.leaseUntil, signal)),
      !Number.isNaN(offset) && fact("Clock",
        h("span", { class: Math.abs(offset) > CLOCK_WARN_MILLIS ? "error-text" : "" },
          offset === 0 ? (cluster.shared ? "same as the database" : "used by the store") : `${duration(Math.abs(offset))} ${offset > 0 ? "behind" : "ahead of"} the database's`)),
      node.startedAt && fact("Started", ago(node.startedAt, signal)),
      node.version && fact("Version", node.version),
      node.handlers?.length > 0 && fact("Handlers", node.handlers.map((each, n) => [n > 0 && ", ", name(each)]))));
}
