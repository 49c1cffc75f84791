// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.server.cli.ApiClient.Call;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Prints a list of the server, which may have several pages. */
final class Pages {
  private Pages() {}

  /**
   * Reads all pages and prints them as one list.
   *
   * @param query the query of the first page, such as {@code ?state=failed}; or empty
   * @param field the field of the answer that contains the list
   */
  static void print(Globals globals, String path, String query, String field, String... columns) {
    ApiClient client = globals.client();
    ObjectNode whole = ApiClient.JSON.createObjectNode();
    ArrayNode all = whole.putArray(field);
    String page = null;
    do {
      String parameter =
          page == null
              ? ""
              : (query.isEmpty() ? "?" : "&") + "pageToken=" + ApiClient.segment(page);
      JsonNode answer = client.call(Call.get(path + query + parameter));
      answer.path(field).forEach(all::add);
      page = answer.path("nextPageToken").asString(null);
    } while (page != null);
    List<JsonNode> rows = new ArrayList<>();
    all.forEach(rows::add);
    globals.printer().rows(whole, rows, columns);
  }
}
