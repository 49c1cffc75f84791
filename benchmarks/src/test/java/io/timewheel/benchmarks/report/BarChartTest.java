// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.timewheel.benchmarks.report.BarChart.Bar;
import io.timewheel.benchmarks.report.BarChart.Panel;
import io.timewheel.benchmarks.report.BarChart.Row;
import io.timewheel.benchmarks.report.Subjects.Kind;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

class BarChartTest {
  private static final List<Row> ROWS = List.of(new Row("us", Kind.US), new Row("it", Kind.PEER));

  private static Document parsed(String svg) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
  }

  private static List<Element> elements(Document picture, String tag) {
    List<Element> elements = new ArrayList<>();
    for (int i = 0; i < picture.getElementsByTagName(tag).getLength(); i++) {
      elements.add((Element) picture.getElementsByTagName(tag).item(i));
    }
    return elements;
  }

  private static double number(Element element, String attribute) {
    return Double.parseDouble(element.getAttribute(attribute));
  }

  private static List<Element> bars(Document picture) {
    return elements(picture, "rect").stream()
        .filter(rectangle -> rectangle.getAttribute("height").equals("15"))
        .toList();
  }

  private static Bar bar(double median) {
    return new Bar(new Spread(median, median, median, 1), "");
  }

  private static BarChart chart(boolean commonScale, Bar... bars) {
    List<Panel> panels = new ArrayList<>();
    for (int i = 0; i < bars.length; i += 2) {
      panels.add(new Panel("panel", List.of(bars[i], bars[i + 1])));
    }
    return new BarChart("Title", "unit", ROWS, panels, commonScale);
  }

  @Test
  void anyTextIsText() throws Exception {
    String nasty = "<script>\"a\" & 'b'</script>";
    String svg =
        new BarChart(
                nasty,
                nasty,
                List.of(new Row(nasty, Kind.US)),
                List.of(new Panel(nasty, List.of(new Bar(null, nasty)))),
                true)
            .svg();

    assertThat(elements(parsed(svg), "script")).isEmpty();
    assertThat(elements(parsed(svg), "text").stream().map(Element::getTextContent))
        .filteredOn(nasty::equals)
        .hasSize(5);
  }

  @Test
  void barsBeginAtZeroAndAreAsLongAsTheirValues() throws Exception {
    List<Element> bars = bars(parsed(chart(true, bar(10), bar(2.5)).svg()));

    assertThat(number(bars.get(0), "x")).isEqualTo(number(bars.get(1), "x"));
    assertThat(number(bars.get(0), "width"))
        .isCloseTo(4 * number(bars.get(1), "width"), within(0.3));
  }

  @Test
  void panelsShareTheirScaleIfTheyMayBeCompared() throws Exception {
    Bar[] values = {bar(10), bar(5), bar(100), bar(50)};
    List<Element> shared = bars(parsed(chart(true, values).svg()));
    List<Element> own = bars(parsed(chart(false, values).svg()));

    assertThat(number(shared.get(2), "width"))
        .isCloseTo(10 * number(shared.get(0), "width"), within(0.6));
    assertThat(number(own.get(2), "width")).isEqualTo(number(own.get(0), "width"));
  }

  @Test
  void whiskerReachesFromTheLeastToTheGreatest() throws Exception {
    Bar bar = new Bar(new Spread(50, 25, 100, 3), "");
    Document picture = parsed(chart(true, bar, bar(0)).svg());
    Element median = bars(picture).get(0);
    double zero = number(median, "x");
    double perUnit = number(median, "width") / 50;

    assertThat(elements(picture, "line"))
        .anySatisfy(
            line -> {
              assertThat(number(line, "x1")).isCloseTo(zero + 25 * perUnit, within(0.2));
              assertThat(number(line, "x2")).isCloseTo(zero + 100 * perUnit, within(0.2));
            });
  }

  @Test
  void whatIsMissingSaysWhy() throws Exception {
    Document picture = parsed(chart(true, bar(1), new Bar(null, "failed")).svg());

    assertThat(bars(picture)).hasSize(1);
    assertThat(elements(picture, "text").stream().map(Element::getTextContent)).contains("failed");
  }

  @Test
  void nothingAtAllIsStillAPicture() throws Exception {
    assertThat(bars(parsed(chart(true, bar(0), bar(0)).svg()))).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource({"0,1", "0.75,0.2", "1,0.5", "3.9,1", "4,2", "8.4,5", "70,20", "441,200", "1724,500"})
  void gridIsRound(double greatest, double step) {
    assertThat(BarChart.step(greatest)).isCloseTo(step, within(1e-9));
  }
}
