// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import static java.util.Objects.requireNonNull;

import io.timewheel.server.problem.Names;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Caller;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/**
 * A request after its authorisation. A refused request lacks its route or its caller if it was
 * refused before they were known. Immutable.
 */
public final class ApiRequest {
  static final String REQUEST_ID = "X-Request-Id";

  private static final Pattern GIVEN_ID = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  private final Request http;
  private final ClientAddress.Client from;
  private final String id;
  private final @Nullable Route route;
  private final Map<String, String> variables;
  private final Caller caller;

  private ApiRequest(
      Request http,
      ClientAddress.Client from,
      String id,
      @Nullable Route route,
      Map<String, String> variables,
      Caller caller) {
    this.http = http;
    this.from = from;
    this.id = id;
    this.route = route;
    this.variables = variables;
    this.caller = caller;
  }

  /** {@return a request that has arrived} */
  static ApiRequest of(Request http, ClientAddress.Client from) {
    String given = http.getHeaders().get(REQUEST_ID);
    String id =
        given != null && GIVEN_ID.matcher(given).matches()
            ? given
            : Long.toHexString(ThreadLocalRandom.current().nextLong());
    return new ApiRequest(http, from, id, null, Map.of(), Caller.NOBODY);
  }

  ApiRequest to(Route found, Map<String, String> pathVariables) {
    return new ApiRequest(http, from, id, found, pathVariables, caller);
  }

  ApiRequest by(Caller authenticated) {
    return new ApiRequest(http, from, id, route, variables, authenticated);
  }

  /** {@return the ID of this request in the logs: from its client, or generated} */
  String id() {
    return id;
  }

  String address() {
    return from.address();
  }

  @Nullable Route route() {
    return route;
  }

  public Caller caller() {
    return caller;
  }

  /** {@return the token of the client; without tokens, the network that it is in} */
  public String client() {
    boolean hasToken = !caller.equals(Caller.LOCAL) && !caller.equals(Caller.NOBODY);
    return hasToken ? caller.name() : from.network();
  }

  /** {@return the request of the HTTP server} */
  public Request http() {
    return http;
  }

  /** {@return whether it only reads} */
  boolean isRead() {
    return http.getMethod().equals("GET") || http.getMethod().equals("HEAD");
  }

  List<String> credentials() {
    return http.getHeaders().getValuesList(HttpHeader.AUTHORIZATION);
  }

  /** {@return a variable of the path, decoded} */
  public String path(String name) {
    return PercentDecoder.decode(name, requireNonNull(variables.get(name), name));
  }

  /** {@return whether the path contains a namespace} */
  boolean hasNamespace() {
    return variables.containsKey("ns");
  }

  /** {@return the namespace in the path, which the caller may use} */
  public String namespace() {
    return Names.checked("ns", path("ns"));
  }

  /** {@return the valid names in the path} */
  Map<String, String> names() {
    Map<String, String> names = new TreeMap<>();
    variables.forEach(
        (name, text) -> {
          try {
            names.put(name.equals("ns") ? "namespace" : name, PercentDecoder.decode(name, text));
          } catch (Problem.Failure e) {
            // the path shows the raw name
          }
        });
    return names;
  }

  public @Nullable String header(HttpHeader name) {
    return http.getHeaders().get(name);
  }

  public @Nullable String header(String name) {
    return http.getHeaders().get(name);
  }

  /** {@return the parameters of the query; refuses a parameter with any other name} */
  public Query query(String... names) {
    return Query.of(http.getHttpURI().getQuery(), names);
  }

  /** {@return the method and the path, for the log} */
  @Override
  public String toString() {
    return http.getMethod() + " " + http.getHttpURI().getPath();
  }
}
