// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** Renders the OpenAPI document of the server as a page of Markdown. */
final class HttpPage {
  private static final String SCHEMAS = "#/components/schemas/";
  private static final Set<String> COMMON_MEDIA_TYPES =
      Set.of("application/json", "application/problem+json");
  private static final String MEANINGS = "x-enumDescriptions";

  private final JsonNode document;
  private final Schemas schemas;
  private final Markdown page = new Markdown();

  private HttpPage(JsonNode document) {
    this.document = document;
    schemas = new Schemas(document);
  }

  static String of(JsonNode document) {
    HttpPage page = new HttpPage(document);
    page.addIntroduction();
    document.get("tags").forEach(page::addTag);
    page.addWebhooks();
    page.addSchemas();
    return page.page.toString();
  }

  private void addIntroduction() {
    page.add("# HTTP API");
    page.add(
        "This page is the [OpenAPI](https://www.openapis.org/) document of the server, which each"
            + " server returns at `/openapi.json`. The [tutorial](../tutorials/http.md) shows the"
            + " API in use.");
    page.add(description(document.get("info")));
    page.add(description(document.at("/components/securitySchemes/token")));
    page.add(
        "Unless an operation names another media type, bodies are `application/json`, and problems"
            + " are `application/problem+json`.");
    page.table("Tag", "Operation", "Summary");
    for (JsonNode tag : document.get("tags")) {
      for (Operation operation : operations(tag)) {
        page.row(
            Markdown.link(name(tag), tagHeading(tag)),
            Markdown.link(Markdown.code(operation.heading), operation.heading),
            text(operation.node, "summary"));
      }
    }
  }

  private void addTag(JsonNode tag) {
    page.add("## " + tagHeading(tag));
    page.add(description(tag));
    for (Operation operation : operations(tag)) {
      begin("`" + operation.heading + "`", operation.node);
      page.add(access(operation.node));
      addDetails(operation.node);
    }
  }

  private static String tagHeading(JsonNode tag) {
    return "Tag " + name(tag);
  }

  private List<Operation> operations(JsonNode tag) {
    List<Operation> operations = new ArrayList<>();
    for (var path : document.get("paths").properties()) {
      for (var method : path.getValue().properties()) {
        if (method.getValue().at("/tags/0").equals(tag.get("name"))) {
          String heading = method.getKey().toUpperCase(Locale.ROOT) + " " + path.getKey();
          operations.add(new Operation(heading, method.getValue()));
        }
      }
    }
    return operations;
  }

  private void addWebhooks() {
    page.add("## Requests of the server");
    page.add(
        "The server sends these requests itself. The URL of a timer gets a [firing](%s) instead."
            .formatted("#" + Markdown.anchor(schemaHeading("WebhookTarget"))));
    for (var webhook : document.get("webhooks").properties()) {
      for (var method : webhook.getValue().properties()) {
        begin("Webhook " + webhook.getKey(), method.getValue());
        addDetails(method.getValue());
      }
    }
  }

  private void begin(String heading, JsonNode operation) {
    page.add("### " + heading);
    page.add(text(operation, "summary"));
    page.add(description(operation));
  }

  private static String access(JsonNode operation) {
    List<String> roles =
        operation
            .path("x-roles")
            .valueStream()
            .map(role -> Markdown.code(role.asString()))
            .toList();
    return switch (roles.size()) {
      case 0 -> "No token is required.";
      case 1 -> "Role: %s.".formatted(roles.get(0));
      default -> "One of the roles %s.".formatted(String.join(", ", roles));
    };
  }

  private void addDetails(JsonNode operation) {
    if (operation.has("parameters")) {
      page.table("Parameter", "In", "Type", "Limits", "Description");
      for (JsonNode each : operation.get("parameters")) {
        JsonNode parameter = schemas.resolve(each);
        JsonNode schema = parameter.get("schema");
        List<String> limits = limits(schema);
        if (parameter.path("required").asBoolean(false)) {
          limits.add(0, "required");
        }
        page.row(
            Markdown.code(name(parameter)),
            parameter.get("in").asString(),
            type(schema),
            String.join("; ", limits),
            description(parameter));
      }
    }
    if (operation.has("requestBody")) {
      addRequestBody(operation.get("requestBody"));
    }
    page.table("Status", "Meaning", "Body");
    for (var response : operation.get("responses").properties()) {
      JsonNode node = schemas.resolve(response.getValue());
      String status = response.getKey().equals("default") ? "other" : response.getKey();
      String headers =
          node.path("headers").propertyStream().map(this::header).collect(Collectors.joining());
      page.row(status, description(node) + headers, bodies(node));
    }
  }

  private String header(java.util.Map.Entry<String, JsonNode> header) {
    return " Header %s: %s"
        .formatted(Markdown.code(header.getKey()), description(schemas.resolve(header.getValue())));
  }

  private void addRequestBody(JsonNode body) {
    String presence = body.path("required").asBoolean(false) ? "required" : "optional";
    page.add("Request body (%s): %s".formatted(presence, bodies(body)));
    for (JsonNode content : body.get("content")) {
      if (!content.get("schema").has("$ref")) {
        addFields(content.get("schema"));
      }
      if (content.has("example")) {
        addExample("Example:", content.get("example"));
      }
      content
          .path("examples")
          .properties()
          .forEach(
              each ->
                  addExample(
                      "Example (%s):".formatted(each.getKey()), each.getValue().get("value")));
    }
  }

  private void addExample(String title, JsonNode example) {
    page.add(title);
    page.add("```json\n" + example + "\n```");
  }

  /** Returns the types of a body, with their media types, except those that most bodies have. */
  private String bodies(JsonNode node) {
    return node.path("content")
        .propertyStream()
        .map(
            each ->
                type(each.getValue().get("schema"))
                    + (COMMON_MEDIA_TYPES.contains(each.getKey())
                        ? ""
                        : " as " + Markdown.code(each.getKey())))
        .collect(Collectors.joining(", "));
  }

  private void addSchemas() {
    page.add("## Schemas");
    for (var each : document.at("/components/schemas").properties()) {
      JsonNode schema = each.getValue();
      page.add("### " + schemaHeading(each.getKey()));
      page.add(description(schema));
      addFields(schema);
      addMeanings(schema, "Value");
      for (var field : schema.path("properties").properties()) {
        addMeanings(field.getValue(), "Value of " + Markdown.code(field.getKey()));
      }
    }
  }

  private static String schemaHeading(String name) {
    return "Schema " + name;
  }

  /** Adds the fields of a schema as a table, or else its type. */
  private void addFields(JsonNode schema) {
    List<String[]> rows = new ArrayList<>();
    collectFields(rows, "", schema);
    if (rows.isEmpty() || (schema.has("oneOf") && !schema.has("type"))) {
      String limits = String.join("; ", limits(schema));
      page.add("Type: " + type(schema) + (limits.isEmpty() ? "" : " (" + limits + ")") + ".");
    }
    if (!rows.isEmpty()) {
      page.table("Field", "Type", "Required", "Limits", "Description");
      rows.forEach(page::row);
    }
  }

  private void collectFields(List<String[]> rows, String prefix, JsonNode schema) {
    Set<String> required =
        schema.path("required").valueStream().map(JsonNode::asString).collect(Collectors.toSet());
    for (var field : schema.path("properties").properties()) {
      JsonNode value = field.getValue();
      String name = prefix + field.getKey();
      rows.add(
          new String[] {
            Markdown.code(name),
            type(value),
            required.contains(field.getKey()) ? "yes" : "",
            String.join("; ", limits(value)),
            description(value)
          });
      collectFields(rows, name + ".", value);
      collectFields(rows, name + "[].", value.path("items"));
    }
    schema.path("oneOf").forEach(alternative -> collectFields(rows, prefix, alternative));
  }

  private void addMeanings(JsonNode schema, String heading) {
    if (schema.has(MEANINGS)) {
      page.table(heading, "Meaning");
      schema
          .get(MEANINGS)
          .properties()
          .forEach(
              each ->
                  page.row(
                      Markdown.code(each.getKey()), Markdown.escape(each.getValue().asString())));
    }
  }

  private String type(JsonNode schema) {
    if (schema.has("$ref")) {
      String name = schema.get("$ref").asString().substring(SCHEMAS.length());
      return Markdown.link(name, schemaHeading(name));
    } else if (schema.has("allOf")) {
      return type(schema.at("/allOf/0"));
    } else if (schema.has("oneOf") && !schema.has("type")) {
      return joined(schema.get("oneOf").valueStream().map(this::type), " or ");
    } else if (schema.path("type").isArray()) {
      return joined(
          schema.get("type").valueStream().map(each -> type(schema, each.asString())), " or ");
    }
    return type(schema, schema.path("type").asString("any JSON value"));
  }

  private String type(JsonNode schema, String type) {
    if (type.equals("array")) {
      return "array of " + type(schema.get("items"));
    }
    return schema.path("additionalProperties").isObject()
        ? "object of " + type(schema.get("additionalProperties")) + " values"
        : type;
  }

  private List<String> limits(JsonNode schema) {
    List<String> limits = new ArrayList<>();
    addRange(limits, schema, "minimum", "maximum", "");
    addRange(limits, schema, "minItems", "maxItems", " elements");
    addRange(limits, schema, "minProperties", "maxProperties", " fields");
    if (schema.has("pattern")) {
      limits.add("matches " + Markdown.code(schema.get("pattern").asString()));
    }
    if (schema.path("format").asString("").startsWith("d")) {
      limits.add(schema.get("format").asString());
    }
    if (schema.has("enum")) {
      limits.add(schema.has(MEANINGS) ? "one of the values below" : values(schema.get("enum")));
    } else if (schema.at("/items/enum").isArray()) {
      limits.add(values(schema.at("/items/enum")));
    }
    if (schema.has("examples")) {
      limits.add("such as " + values(schema.get("examples")));
    }
    if (schema.has("default")) {
      limits.add("default: " + Markdown.code(schema.get("default").asString()));
    }
    return limits;
  }

  private static void addRange(
      List<String> limits, JsonNode schema, String min, String max, String unit) {
    String low = number(schema.path(min));
    String high = number(schema.path(max));
    if (low.equals(high)) {
      limits.addAll(low.isEmpty() ? List.of() : List.of(low + unit));
    } else if (low.isEmpty()) {
      limits.add("at most " + high + unit);
    } else {
      limits.add(high.isEmpty() ? "at least " + low + unit : low + " to " + high + unit);
    }
  }

  private static String number(JsonNode limit) {
    return limit.isMissingNode() ? "" : String.format(Locale.ROOT, "%,d", limit.asLong());
  }

  private static String values(JsonNode values) {
    return joined(values.valueStream().map(value -> Markdown.code(value.asString())), ", ");
  }

  private static String joined(Stream<String> parts, String separator) {
    return parts.collect(Collectors.joining(separator));
  }

  private static String name(JsonNode node) {
    return node.get("name").asString();
  }

  private static String description(JsonNode node) {
    return text(node, "description");
  }

  private static String text(JsonNode node, String field) {
    return Markdown.escape(node.path(field).asString(""));
  }

  private record Operation(String heading, JsonNode node) {}
}
