// SPDX-License-Identifier: Apache-2.0
// URLs of the console, such as "#/timers?ns=shop&state=retrying". A URL contains the complete state of its page.

import { encode } from "./api.js";

/** A URL for a link, without empty values. */
export function link(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encode).join("/")}${search ? `?${search}` : ""}`;
}

/** {path: [decoded parts], query: URLSearchParams}. */
export function parse(hash) {
  const [path, search = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  return { path: path.split("/").map(decode), query: new URLSearchParams(search) };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Replaces parameters of the present URL, without a new entry in the history. */
export function replaceQuery(changes) {
  const { path, query } = parse(location.hash);
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === "") {
      query.delete(key);
    } else {
      query.set(key, value);
    }
  }
  history.replaceState(null, "", link(path, Object.fromEntries(query)));
}

export function go(hash) {
  location.hash = hash;
}
