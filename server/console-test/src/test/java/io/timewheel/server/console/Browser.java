// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.StreamSupport;
import org.openqa.selenium.By;
import org.openqa.selenium.ElementNotInteractableException;
import org.openqa.selenium.NoSuchElementException;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.openqa.selenium.remote.http.ClientConfig;

/** Debian's Chromium in headless mode. */
final class Browser implements AutoCloseable {
  static final File DRIVER = new File("/usr/bin/chromedriver");
  static final File CHROMIUM = new File("/usr/bin/chromium");

  /** The timeout of the browser: long enough for a machine that is busy or stalls. */
  private static final Duration TIMEOUT = Duration.ofMinutes(10);

  /**
   * The limit of a wait, more than a minute. It is a number of lookups, not a time, because a build
   * may be suspended.
   */
  private static final int LOOKS = 8_000;

  /** The lookups of one script. A script for each lookup would cost a round trip each. */
  private static final int LOOKS_AT_ONCE = 100;

  /** Warns of a protocol that the tests do not use. */
  private static final Logger DEVTOOLS = Logger.getLogger("org.openqa.selenium.devtools");

  static {
    DEVTOOLS.setLevel(Level.OFF);
  }

  private static final String PAUSE = "await new Promise(resolve => setTimeout(resolve, 10));";

  private final ChromeDriver driver;

  /** The document of the last address, without the fragment. */
  private String document = "";

  private Browser(ChromeDriver driver) {
    this.driver = driver;
  }

  static Browser open() {
    ChromeOptions options = new ChromeOptions();
    options.setBinary(CHROMIUM);
    options.addArguments(
        "--headless=new",
        "--no-sandbox", // Chromium refuses to run as root otherwise
        "--disable-dev-shm-usage",
        "--no-proxy-server",
        "--disable-gpu",
        "--disable-extensions",
        "--disable-component-update",
        "--disable-features=Translate,OptimizationHints,MediaRouter",
        "--force-prefers-reduced-motion"); // no test needs animations, which cost time
    options.setExperimentalOption("browserStartupTimeout", TIMEOUT.toMillis());
    LoggingPreferences logging = new LoggingPreferences();
    logging.enable(LogType.BROWSER, Level.ALL);
    options.setCapability("goog:loggingPrefs", logging);
    ChromeDriverService service =
        new ChromeDriverService.Builder()
            .usingDriverExecutable(DRIVER)
            .usingAnyFreePort()
            .withTimeout(TIMEOUT)
            .build();
    ChromeDriver driver =
        new ChromeDriver(
            service,
            options,
            ClientConfig.defaultConfig().connectionTimeout(TIMEOUT).readTimeout(TIMEOUT));
    driver.manage().timeouts().scriptTimeout(TIMEOUT).pageLoadTimeout(TIMEOUT);
    return new Browser(driver);
  }

  void go(String address) {
    String next = address.replaceFirst("#.*", "");
    if (next.equals(document)) {
      driver.get("about:blank"); // a change of the fragment alone would load nothing
    }
    document = next;
    driver.get(address);
  }

  String address() {
    return driver.getCurrentUrl();
  }

  void size(int width, int height) {
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
  }

  void colours(String scheme) {
    driver.executeCdpCommand(
        "Emulation.setEmulatedMedia",
        Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
  }

  /** Sets the time zone; the empty one is that of the machine. */
  void zone(String id) {
    driver.executeCdpCommand("Emulation.setTimezoneOverride", Map.of("timezoneId", id));
  }

  /** Runs work while the browser blocks its storage, as a setting of users does. */
  void withoutStorage(Runnable work) {
    String blocks =
        "for (const area of ['localStorage', 'sessionStorage']) Object.defineProperty(window, area,"
            + " { get() { throw new DOMException('blocked', 'SecurityError'); } });";
    Map<String, Object> script =
        driver.executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source", blocks));
    try {
      work.run();
    } finally {
      driver.executeCdpCommand("Page.removeScriptToEvaluateOnNewDocument", script);
    }
  }

  /** Calls an exported function of a module of the console, with plain values. */
  Object call(String module, String function, Object... arguments) {
    return evaluate(
        "const [module, name, values] = arguments;"
            + "return (await import('/console/' + module))[name](...values);",
        module,
        function,
        Arrays.asList(arguments));
  }

  /** Runs a script without a wrapper. */
  void execute(String script) {
    driver.executeScript(script);
  }

  /** Runs the body of an asynchronous function. */
  Object evaluate(String body, Object... arguments) {
    Object answer =
        driver.executeAsyncScript(
            "const done = arguments[arguments.length - 1];"
                + "const given = [...arguments].slice(0, -1);"
                + "(async function () {"
                + body
                + "}).apply(null, given).then("
                + "value => done({ value: value === undefined ? null : value }),"
                + "error => done({ error: String(error && error.stack || error) }));",
            arguments);
    Map<?, ?> result = (Map<?, ?>) answer;
    assertThat(result.get("error")).as("thrown by the script").isNull();
    return result.get("value");
  }

  /** Returns whether an expression is true. */
  boolean holds(String expression, Object... arguments) {
    return (boolean) evaluate("return Boolean(" + expression + ");", arguments);
  }

  List<WebElement> all(String selector) {
    return driver.findElements(By.cssSelector(selector));
  }

  /** Returns the visible text of the first matching element; empty if there is none. */
  String text(String selector) {
    return (String)
        evaluate("return document.querySelector(arguments[0])?.innerText ?? '';", selector);
  }

  /** Clicks an element as soon as it exists. */
  void click(String selector) {
    await("a click at " + selector, () -> clicked(selector));
  }

  private boolean clicked(String selector) {
    try {
      driver.findElement(By.cssSelector(selector)).click();
      return true;
    } catch (NoSuchElementException
        | StaleElementReferenceException
        | ElementNotInteractableException e) {
      return false; // absent, replaced meanwhile, or behind another element
    }
  }

  /** Presses keys, one after the other, in the element with the focus. */
  void press(CharSequence... keys) {
    new Actions(driver).sendKeys(keys).perform();
  }

  /** Waits for a condition. The limit exists only so that a failure ends. */
  void await(String what, BooleanSupplier so) {
    await(what, LOOKS, so);
  }

  private void await(String what, int looks, BooleanSupplier so) {
    for (int look = 0; look < looks; look++) {
      if (so.getAsBoolean()) {
        return;
      }
      evaluate(PAUSE);
    }
    throw new AssertionError(
        "No %s after all lookups. The text of the page: %s\nThe complaints of the browser: %s"
            .formatted(what, text("body"), complaints()));
  }

  /** Waits in the page until an expression is true. */
  void awaitTrue(String what, String expression, Object... arguments) {
    String looks =
        "for (let look = 0; look < %d; look++) { if (%s) return true; %s } return false;"
            .formatted(LOOKS_AT_ONCE, expression, PAUSE);
    await(what, LOOKS / LOOKS_AT_ONCE, () -> (boolean) evaluate(looks, arguments));
  }

  void awaitText(String selector, String part) {
    awaitTrue(
        "“%s” in %s".formatted(part, selector),
        "document.querySelector(arguments[0])?.innerText.includes(arguments[1])",
        selector,
        part);
  }

  /**
   * Returns the messages of the browser's console since the last call, including violations of the
   * content security policy.
   */
  List<String> complaints() {
    return StreamSupport.stream(driver.manage().logs().get(LogType.BROWSER).spliterator(), false)
        .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
        .map(LogEntry::getMessage)
        .toList();
  }

  @Override
  public void close() {
    driver.quit();
  }
}
