// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Parameter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.ClassUtils;
import tools.jackson.databind.json.JsonMapper;

/** Verifies that the metadata, which is written by hand, matches the properties. */
class MetadataTest {
  private static final List<String> SWITCHES =
      List.of(
          "timewheel.scheduler.enabled",
          "timewheel.durable.enabled",
          "management.health.timewheel.enabled");

  @Test
  void metadataHasEveryPropertyWithTypeAndDefault() throws IOException {
    Map<String, String> expected = new TreeMap<>();
    addProperties(expected, TimewheelProperties.class, TimewheelProperties.PREFIX);
    addProperties(expected, TimewheelDurableProperties.class, TimewheelDurableProperties.PREFIX);
    SWITCHES.forEach(name -> expected.put(name, "java.lang.Boolean true"));

    Map<String, String> found = new TreeMap<>();
    for (Map<?, ?> property : properties()) {
      Object byDefault = property.get("defaultValue");
      found.put(
          (String) property.get("name"),
          property.get("type") + (byDefault == null ? "" : " " + byDefault));
      assertThat((String) property.get("description")).endsWith(".");
    }

    assertThat(found).isEqualTo(expected);
  }

  private static void addProperties(Map<String, String> all, Class<?> properties, String prefix) {
    for (Parameter component : properties.getDeclaredConstructors()[0].getParameters()) {
      DefaultValue byDefault = component.getAnnotation(DefaultValue.class);
      all.put(
          prefix + "." + kebab(component.getName()),
          ClassUtils.resolvePrimitiveIfNecessary(component.getType()).getName()
              + (byDefault == null ? "" : " " + byDefault.value()[0]));
    }
  }

  @Test
  void guideHasEveryPropertyWithItsDefault() throws IOException {
    String guide = Files.readString(Path.of("../../docs/guides/spring.md"));

    for (Map<?, ?> property : properties()) {
      Object byDefault = property.get("defaultValue");
      String row = "| `" + property.get("name") + "` | ";
      assertThat(guide).contains(byDefault == null ? row : row + "`" + byDefault + "` | ");
    }
  }

  private static List<Map<?, ?>> properties() throws IOException {
    try (InputStream json =
        MetadataTest.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
      String text = new String(json.readAllBytes(), StandardCharsets.UTF_8);
      Map<?, ?> metadata = JsonMapper.shared().readValue(text, Map.class);
      List<?> properties = (List<?>) metadata.get("properties");
      return properties.stream().<Map<?, ?>>map(property -> (Map<?, ?>) property).toList();
    }
  }

  private static String kebab(String name) {
    return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }
}
