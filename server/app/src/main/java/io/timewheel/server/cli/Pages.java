// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.server.cli.ApiClient.Call;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Prints a list of the server, which may have several pages. */
final class Pages {
  private static final int PAGE = 1_000;

  private Pages() {}

  /** Reads all pages of a list, and prints them as one. */
  static void print(Globals globals, String path, String field, String... columns) {
    ObjectNode whole = read(globals.client(), path, field, 0);
    globals.printer().rows(whole, whole.get(field), columns);
  }

  /**
   * Reads the pages of a list.
   *
   * @param limit the largest number of elements; 0 for all
   */
  static ObjectNode read(ApiClient client, String path, String field, int limit) {
    ObjectNode whole = ApiClient.JSON.createObjectNode();
    ArrayNode all = whole.putArray(field);
    String page = null;
    do {
      int size = limit == 0 ? PAGE : Math.min(PAGE, limit - all.size());
      String sized = ApiClient.with(path, "pageSize", size);
      JsonNode answer = client.call(Call.get(ApiClient.with(sized, "pageToken", page)));
      answer.path(field).forEach(all::add);
      page = answer.path("nextPageToken").asString(null);
    } while (page != null && (limit == 0 || all.size() < limit));
    if (page != null) {
      whole.put("nextPageToken", page);
    }
    return whole;
  }
}
