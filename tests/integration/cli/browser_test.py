"""The page of forelock serve in a real browser: changes, keys, acts, many tabs, a server that goes and comes back."""

import datetime
import os
import shutil
import urllib.parse

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import support
from dlq_support import DlqTest
from serve_test import ServeTest
from support import wait_until
from zookeepers import Relay

ANNA = "a" * 40


class BrowserTest(ServeTest, DlqTest):
    def setUp(self):
        super().setUp()
        options = Options()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                         "--user-data-dir=" + self.path("browser")):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.browser = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.addCleanup(self.browser.quit)

    def open(self, path="/"):
        self.browser.get(f"http://127.0.0.1:{self.port}{path}")
        wait_until(lambda: self.text("#status").startswith("live"), "it is live")

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        """What stands there; empty if there is no such element, or no more."""
        try:
            return self.find(selector).text
        except (NoSuchElementException, StaleElementReferenceException):
            return ""

    def sees(self, selector, text):
        wait_until(lambda: text in self.text(selector), f"{selector} has {text}")

    def press(self, *keys):
        for key in keys:
            self.browser.switch_to.active_element.send_keys(key)

    def focused(self):
        return self.browser.switch_to.active_element.text

    def no_errors(self):
        """Neither an exception nor anything that the policy has kept from happening; answers such as 404 are none."""
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"
                          and "Failed to load resource" not in entry["message"]], [])

    def clicks(self, selector):
        wait_until(lambda: self.text(selector), selector + " is there")
        self.find(selector).click()


class Live(BrowserTest):
    def test_changes_are_seen_without_a_reload(self):
        self.serve()
        self.open()
        self.browser.execute_script("window.mark = 1")
        first = self.hold("P1", "--info", "Save <b>")
        self.sees("#list tbody", "Save <b>")
        self.start_cli("run", "-m", "P1", "--info", "Next", "--timeout", "60s", "--", "sleep", "1000")
        self.sees("#list tbody", "1 foreground")
        self.sees("#worst", "P1")
        self.let_go(first)
        self.sees("#list tbody", "Next")
        self.assertEqual(self.browser.execute_script("return window.mark"), 1)
        self.no_errors()

    def test_orders_that_can_become_a_deadlock(self):
        self.serve()
        self.open()
        self.assertFalse(self.find("#orders").is_displayed())
        for outer, inner in (("P1", "P2"), ("P2", "P1")):
            self.nest(self.nested_locks(f"{inner} <b>in {outer}"), outer, inner)
        self.sees("#order-list", "P2 is locked inside P1 by P2 <b>in P1")
        self.clicks("#order-list summary")
        self.sees("#order-list pre", "nested_locks")
        self.assertEqual(len(self.browser.find_elements(By.CSS_SELECTOR, "#order-list pre")), 4)
        seen = self.get("/api/orders")["sampled_at"]
        wait_until(lambda: self.get("/api/orders")["sampled_at"] > seen, "another look")
        self.sees("#order-list pre", "nested_locks")  # it stays open
        self.no_errors()

    def test_eight_tabs_are_live_and_go_on_when_the_first_is_closed(self):
        self.serve()
        self.open()
        for _ in range(7):
            self.browser.switch_to.new_window("tab")
            self.open()
        child = self.hold("P1", "--info", "Save")
        tabs = self.browser.window_handles
        for tab in tabs:
            self.browser.switch_to.window(tab)
            self.sees("#list tbody", "Save")
        self.assertEqual(self.request("/metrics")[1].count("forelock_serve_streams 1\n"), 1)
        self.browser.switch_to.window(tabs[0])
        self.browser.close()
        self.let_go(child)
        for tab in tabs[1:]:
            self.browser.switch_to.window(tab)
            wait_until(lambda: "Save" not in self.text("#list tbody"), "it has ended")
            self.assertTrue(self.text("#status").startswith("live"))

    def test_server_killed_and_back(self):
        self.serve()
        port = self.port
        self.open()
        child = self.hold("P1", "--info", "Save")
        self.sees("#list tbody", "Save")
        self.serving.kill()
        self.serving.wait()
        self.sees("#status", "not live")
        self.assertIn("old-picture", self.find("body").get_attribute("class"))
        self.let_go(child)
        self.hold("P2", "--info", "Meanwhile")
        self.assertIn("Save", self.text("#list tbody"))  # as it was, and said to be old
        self.serve(port=port)
        self.sees("#list tbody", "Meanwhile")
        wait_until(lambda: self.text("#status").startswith("live"), "it is live again")
        self.assertNotIn("Save", self.text("#list tbody"))


class Silence(BrowserTest):
    """Nobody says that the stream has ended."""

    def test_a_connection_that_dies_without_a_word_is_noticed_by_all_tabs(self):
        self.serve()
        relay = Relay(self.port)
        self.addCleanup(relay.close)
        self.port = relay.port
        self.open()
        self.browser.switch_to.new_window("tab")
        self.open()
        tabs = self.browser.window_handles
        self.hold("P1", "--info", "Save")
        self.sees("#list tbody", "Save")
        relay.silence()
        self.hold("P2", "--info", "Next")
        for tab in tabs:
            self.browser.switch_to.window(tab)
            self.sees("#list tbody", "Next")
            wait_until(lambda: self.text("#status").startswith("live"), "it is live")
        self.no_errors()

    def test_rows_are_not_live_while_no_stream_brings_what_the_server_has_told_of(self):
        self.serve()
        # Streams open, and bring nothing while they are withheld.
        self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            window.opened = 0;
            const listen = EventSource.prototype.addEventListener;
            EventSource.prototype.addEventListener = function (name, take) {
              listen.call(this, name, (event) => {
                if (name === "open") window.opened += 1;
                if (name === "open" || !window.withheld) take(event);
              });
            };"""})
        self.open()
        self.hold("P1", "--info", "Save")
        self.sees("#list tbody", "Save")
        self.browser.execute_script("window.withheld = true; window.opened = 0")
        self.hold("P2", "--info", "Next")
        wait_until(lambda: self.browser.execute_script("return window.opened") == 1, "a new stream is asked for")
        self.browser.execute_script("""
            const status = document.getElementById("status");
            new MutationObserver(() => { window.wasLive ||= status.textContent.startsWith("live"); })
              .observe(status, { childList: true, characterData: true, subtree: true });""")
        wait_until(lambda: self.browser.execute_script("return window.opened") > 1, "another one is asked for")
        self.assertFalse(self.browser.execute_script("return window.wasLive ?? false"))
        self.browser.execute_script("window.withheld = false")
        self.sees("#list tbody", "Next")
        wait_until(lambda: self.text("#status").startswith("live"), "it is live")
        self.no_errors()

    def test_a_machine_that_has_slept_sees_all_anew(self):
        self.serve()
        self.open()
        self.hold("P1")
        held = "tr[data-monitor=P1] td[data-name='Held for']"
        wait_until(lambda: "s" in self.text(held), "it is seen")
        # Its clock has stood still meanwhile.
        self.browser.execute_script("const now = performance.now.bind(performance);"
                                    "performance.now = () => now() - 3600e3")
        self.hold("P2")
        self.sees("#list tbody", "P2")  # so all rows have been shown by that clock
        wait_until(lambda: self.text(held) not in ("", "0 ms"), "it is right again")
        wait_until(lambda: self.text("#status").startswith("live"), "it is live")


class Beginning(BrowserTest):
    makes_namespace = False

    def test_a_later_tab_is_connected_although_nothing_has_been_seen_yet(self):
        self.serve()
        page = f"http://127.0.0.1:{self.port}/"
        self.browser.get(page)
        self.sees("#status", "nothing seen yet")
        wait_until(lambda: "no connection" not in self.text("#status"), "it is connected")
        self.browser.switch_to.new_window("tab")
        self.browser.get(page)
        self.sees("#status", "nothing seen yet")
        wait_until(lambda: "no connection" not in self.text("#status"), "the second one is, too")
        self.hold("P1", "--info", "Save")
        for tab in self.browser.window_handles:
            self.browser.switch_to.window(tab)
            self.sees("#list tbody", "Save")
            wait_until(lambda: self.text("#status").startswith("live"), "it is live")


class Keyboard(BrowserTest):
    def test_keys_alone(self):
        self.serve()
        for monitor in ("P1", "P2"):
            self.hold(monitor, "--info", "work at " + monitor)
        self.open()
        self.sees("#list tbody", "work at P2")
        self.press("/", "P2")
        wait_until(lambda: "work at P1" not in self.text("#list tbody"), "it is filtered")
        self.assertIn("q=P2", self.browser.current_url)
        self.press(Keys.BACKSPACE, Keys.BACKSPACE, Keys.ESCAPE)
        self.sees("#list tbody", "work at P1")
        self.press("j")
        first = self.focused()
        self.press("j")
        second = self.focused()
        self.assertEqual({first, second}, {"P1", "P2"})
        self.press("k")
        self.assertEqual(self.focused(), first)
        self.press("x")
        self.sees("#detail", "work at " + first)
        self.assertTrue(self.browser.current_url.endswith("/monitors/" + first))
        self.press("x")
        wait_until(lambda: not self.find("#detail").is_displayed(), "it is closed")
        self.press("g", "d")
        self.sees("#letters", "Dead letters")
        self.assertTrue(self.browser.current_url.endswith("/dead-letters"))
        self.press("g", "a")
        self.sees("#audit", "Done by force")
        self.press("g", "m")
        self.sees("#list tbody", "work at P1")
        self.press("?")
        self.sees("#help", "go to monitors")
        self.press(Keys.ESCAPE)
        wait_until(lambda: not self.find("#help").is_displayed(), "the help is closed")


class Acts(BrowserTest):
    def setUp(self):
        super().setUp()
        self.tokens = self.write("tokens", f"anna {ANNA}\n")
        os.chmod(self.tokens, 0o600)

    def test_without_the_option_there_is_no_button(self):
        self.serve()
        self.hold("P1")
        self.open("/monitors/P1")
        self.sees("#detail", "Held by")
        self.assertEqual(self.text("#release-button"), "")

    def test_forced_release_needs_a_token(self):
        self.serve("--admin", self.tokens, "--history", self.path("history.db"), "--audit-file", self.path("audit"))
        child = self.hold("P1", script="echo ready; exec sleep 1000")
        self.open("/monitors/P1")
        self.clicks("#release-button")
        self.find("#reason").send_keys("it hangs")
        self.find("#release-do").click()
        self.sees("#release-outcome", "token")
        self.assertIsNone(child.poll())
        self.find("#token").send_keys("b" * 40)
        self.find("#release-do").click()
        self.sees("#release-outcome", "token")
        self.find("#token").send_keys(ANNA)
        self.find("#release-do").click()
        self.sees("#release-outcome", "Released")
        self.assertEqual(child.wait(support.PATIENCE), 76)
        self.press(Keys.ESCAPE)
        self.sees("#detail", "It is free")
        wait_until(lambda: self.browser.find_elements(By.CSS_SELECTOR, "#past rect.forced"), "its bar says so")
        self.clicks("#past > details summary")
        self.sees("#past", "taken away by force")
        self.press("g", "a")
        self.sees("#audit tbody", "it hangs")
        self.sees("#audit tbody", "anna")

    def test_a_waiter_is_moved(self):
        self.serve("--admin", self.tokens, "--audit-file", self.path("audit"))
        self.hold("P1")
        self.start_cli("run", "-m", "P1", "-p", "background", "--timeout", "1m", "--", "true")
        wait_until(lambda: self.queue("P1"), "it waits")
        self.open("/monitors/P1")
        self.clicks("#detail tbody button")
        self.sees("#release", "wait in the foreground")
        self.find("#reason").send_keys("by noon")
        self.find("#token").send_keys(ANNA)
        self.find("#release-do").click()
        self.sees("#release-outcome", "Moved: it is A-")
        self.press(Keys.ESCAPE)
        self.sees("#detail tbody", "foreground")
        self.assertEqual(self.queue("P1")[0]["priority"], "foreground")

    def test_a_parked_letter_is_put_back(self):
        identity = self.dead_letter("--type", "Save")
        self.json_of("dlq", "park", identity)
        self.serve("--admin", self.tokens, "--dead-letters")
        self.open("/dead-letters/" + identity)
        self.clicks("#unpark-button")
        self.find("#reason").send_keys("it is repaired")
        self.find("#token").send_keys(ANNA)
        self.find("#release-do").click()
        self.sees("#release-outcome", "in the queue again")
        self.assertEqual(self.json_of("dlq", "stats")["parked"], 0)
        self.press(Keys.ESCAPE)
        wait_until(lambda: self.text("#letters") and not self.text("#unpark-button"), "its page says so")


class Staying(BrowserTest):
    def test_focus_and_what_is_open_outlive_changes(self):
        tokens = self.write("tokens", f"anna {ANNA}\n")
        os.chmod(tokens, 0o600)
        self.serve("--admin", tokens)
        say = self.nested_locks("Save")
        say("lock P1")
        self.open("/monitors/P1")
        self.clicks("#detail summary")
        self.sees("#detail pre", "nested_locks")
        self.browser.execute_script("document.getElementById('release-button').focus()")
        for count in range(1, 4):
            self.start_cli("run", "-m", "P1", "--timeout", "1m", "--", "sleep", "1000")
            rows = "return document.querySelectorAll('#detail tbody tr').length"
            wait_until(lambda count=count: self.browser.execute_script(rows) == count, "the queue is longer")
            self.assertEqual(self.focused(), "release by force …")
            self.assertIn("nested_locks", self.text("#detail pre"))
        self.browser.execute_script("document.querySelector('#detail tbody tr:last-child button').focus()")
        focus = ("const row = document.activeElement.closest('tr');"
                 "return row && [row.dataset.key, row.cells[0].textContent]")
        node, place = self.browser.execute_script(focus)
        self.assertEqual(place, "3")
        say("unlock P1")
        wait_until(lambda: self.browser.execute_script(focus) == [node, "2"], "it has moved up, and the focus with it")
        self.no_errors()


class Keyed(BrowserTest):
    def test_what_has_a_key_outlives_what_comes_and_goes_beside_it(self):
        self.serve()
        self.open()
        same = self.browser.execute_async_script("""
            const done = arguments[0];
            import("/page/dom.js").then(({ element, showParts }) => {
              const place = document.createElement("div");
              const queue = () => element("p", { "data-key": "queue", tabindex: "0" }, "queue");
              showParts(place, [element("p", {}, "held"), element("p", {}, "more"), queue()]);
              document.body.append(place);
              const first = place.lastChild;
              first.focus();
              const seen = [];
              for (const parts of [["free"], [], ["held", "next", "more"], ["free", "next"]]) {
                showParts(place, [...parts.map((text) => element("p", {}, text)), queue(), element("p", {}, "end")]);
                seen.push([...place.children].map((child) =>
                  child === document.activeElement ? "same" : child.textContent).join(" "));
              }
              done(seen);
            });""")
        self.assertEqual(same, ["free same end", "same end", "held next more same end", "free next same end"])


class Views(BrowserTest):
    def test_a_monitor_that_is_old_by_itself_is_not_shown_as_live(self):
        self.serve()
        self.hold("P1", "--info", "Save")
        self.open("/monitors/P1")
        self.sees("#detail", "Save")
        self.assertEqual(self.text("#detail-age"), "")
        # What the server says of one that it could not read again.
        self.browser.execute_script("""
            const fetch = window.fetch;
            window.fetch = async (path, options) => {
              const response = await fetch(path, options);
              if (!path.startsWith("/api/monitors/P1")) return response;
              const view = { ...await response.json(), live: window.live ?? false, age_ms: 61000 };
              return new Response(JSON.stringify(view));
            };""")
        self.sees("#detail-age", "as it was 1 min 1 s ago")
        self.assertIn("stale", self.find("#detail").get_attribute("class"))
        self.assertTrue(self.text("#status").startswith("live"))
        self.browser.execute_script("window.live = true")
        wait_until(lambda: self.text("#detail-age") == "", "it is live again")
        self.assertNotIn("stale", self.find("#detail").get_attribute("class"))

    def test_commands_are_copied_also_without_a_secure_context(self):
        self.serve()
        self.open("/monitors/-n")
        self.browser.execute_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        self.clicks("#detail button[data-copy]")
        self.sees("#said", "copied")
        self.press("/", Keys.CONTROL + "v")
        value = "return document.getElementById('filter').value"
        wait_until(lambda: self.browser.execute_script(value) == "forelock show -- '-n'", "it is on the clipboard")

    def test_history_has_a_plot_of_waits(self):
        self.serve("--history", self.path("history.db"))
        child = self.hold("P1")
        self.start_cli("run", "-m", "P1", "-p", "background", "--timeout", "1m", "--", "sleep", "1000")
        wait_until(lambda: self.queue("P1"), "it waits")
        self.open("/monitors/P1")
        self.sees("#detail", "Behind")
        self.let_go(child)
        wait_until(lambda: self.browser.find_elements(By.CSS_SELECTOR, "#waits polyline.background"), "there is a plot")
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "#waits polyline.foreground"), [])
        self.clicks("#waits summary")
        self.sees("#waits tbody", "1")

    def test_history_has_bars_and_answers_for_a_moment(self):
        self.serve("--history", self.path("history.db"))
        child = self.hold("P1", "--info", "Save")
        self.open("/monitors/P1")
        wait_until(lambda: self.browser.find_elements(By.CSS_SELECTOR, "#past rect.hold"), "there is a bar")
        self.let_go(child)
        wait_until(lambda: "Held by" not in self.text("#detail"), "it is free")
        self.clicks("#past > details summary")
        self.clicks("#past li a")
        self.sees("#moment", "Save")
        self.assertIn("at=", self.browser.current_url)
        self.no_errors()

    def test_times_are_those_of_the_browser_which_says_so(self):
        self.serve("--history", self.path("history.db"))
        self.hold("P1", "--info", "Save")
        wait_until(lambda: self.get("/api/history/P1")["stays"], "it is in the history")
        moment = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(seconds=1)
        self.browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Tokyo"})
        self.open("/monitors/P1")
        self.sees("#past label", "(GMT+9)")
        there = (moment + datetime.timedelta(hours=9)).strftime("%Y-%m-%dT%H:%M:%S")
        self.browser.execute_script("const box = document.getElementById('past-at'); box.value = arguments[0];"
                                    "box.dispatchEvent(new Event('change'));", there)
        self.sees("#moment", "Save")
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.browser.current_url).query)
        self.assertEqual(query["at"], [moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")])

    def test_damaged_history_is_told_at_the_head(self):
        self.serve("--history", self.write("history.db", "x" * 5000))
        self.browser.get(f"http://127.0.0.1:{self.port}/")
        self.sees("#status", "damaged: move it away")

    def test_the_number_of_dead_letters_goes_on(self):
        first = self.dead_letter("--type", "Save")
        self.serve("--dead-letters")
        self.open("/dead-letters")
        self.sees("#letters-count", "1 in the queue")
        self.browser.execute_script("document.querySelector('#letters tbody a').focus()")
        second = self.dead_letter("--type", "Export")
        self.sees("#letters-count", "2 in the queue")
        self.assertEqual(self.focused(), first[:13])
        self.json_of("dlq", "park", second)
        self.sees("#letters-count", "1 parked")
        self.no_errors()

    def test_dead_letters_and_a_payload_for_those_who_may(self):
        tokens = self.write("tokens", f"anna {ANNA}\n")
        os.chmod(tokens, 0o600)
        identity = self.dead_letter("--type", "Save", "--payload", "-", stdin="the <i>payload</i>")
        self.serve("--dead-letters", "--admin", tokens)
        self.open("/dead-letters")
        self.sees("#letters-count", "1 in the queue")
        self.clicks("#letters tbody th a")
        self.sees("#letters", "forelock dlq replay --id " + identity)
        self.assertNotIn("<i>payload</i>", self.text("#letters"))
        self.no_errors()
        self.clicks("#payload-button")
        self.sees("#payload", "token")
        self.find("#letters input").send_keys(ANNA)
        self.clicks("#payload-button")
        self.sees("#payload", "the <i>payload</i>")


if __name__ == "__main__":
    support.main()
