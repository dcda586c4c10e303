package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.forelock.LockType;
import org.forelock.opensearch.HeldRequests.Admission;
import org.junit.jupiter.api.Test;
import org.opensearch.OpenSearchStatusException;
import org.opensearch.common.settings.ClusterSettings;
import org.opensearch.common.settings.Setting;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.rest.RestStatus;

class HeldRequestsTest {
  private final FakeLocks source = new FakeLocks();
  private final List<Exception> answers = new ArrayList<>();
  private final Stats stats = new Stats();
  private final HeldRequests requests = requests(Settings.builder()
      .put("forelock.foreground.max_requests", 3).put("forelock.background.max_requests", 2)
      .put("forelock.foreground.max_bytes", "100b").put("forelock.background.max_bytes", "50b").build());

  private HeldRequests requests(Settings settings) {
    Set<Setting<?>> known = new HashSet<>(ClusterSettings.BUILT_IN_CLUSTER_SETTINGS);
    for (Setting<?> setting : ForelockSettings.all()) {
      if (setting.hasNodeScope()) {
        known.add(setting);
      }
    }
    return new HeldRequests(new ForelockSettings(settings, new ClusterSettings(settings, known)), stats);
  }

  private HeldRequest request(LockType type, long bytes) {
    DocumentLocks locks = new DocumentLocks(source, "test", List.of("m" + bytes), type, false, System::nanoTime);
    return new HeldRequest(requests.nextTicket(), null, "test", type, locks, bytes, System.nanoTime(), answers::add);
  }

  private Admission admit(LockType type, long bytes) {
    return requests.admit(request(type, bytes));
  }

  @Test
  void backgroundGivesWayFirst() {
    assertEquals(Admission.ADMITTED, admit(LockType.BACKGROUND, 1));
    assertEquals(Admission.ADMITTED, admit(LockType.FOREGROUND, 1));
    assertEquals(Admission.TOO_MANY, admit(LockType.BACKGROUND, 1));
    assertEquals(Admission.ADMITTED, admit(LockType.FOREGROUND, 1));
    assertEquals(Admission.TOO_MANY, admit(LockType.FOREGROUND, 1));
    assertEquals(2, requests.count(LockType.FOREGROUND));
  }

  @Test
  void bytesAreBoundedToo() {
    assertEquals(Admission.TOO_MANY, admit(LockType.BACKGROUND, 51));
    assertEquals(Admission.ADMITTED, admit(LockType.FOREGROUND, 60));
    assertEquals(Admission.TOO_MANY, admit(LockType.FOREGROUND, 41));
    assertEquals(60, requests.mostBytes());
  }

  @Test
  void aRequestEndsOnce() {
    HeldRequest request = request(LockType.FOREGROUND, 1);
    requests.admit(request);
    assertTrue(requests.run(request));
    assertFalse(requests.refuse(request, new Exception()), "it is being done");
    assertEquals(0, requests.count(LockType.FOREGROUND));
    assertEquals(request, requests.get(request.ticket), "a primary may ask for it");
    requests.end(request);
    requests.end(request);
    assertTrue(requests.all().isEmpty());
    assertEquals(List.of(), answers);
  }

  @Test
  void whatFailsIsAnsweredOnceAndGivesItsLocksBack() {
    for (boolean running : new boolean[] {false, true}) {
      answers.clear();
      HeldRequest request = request(LockType.FOREGROUND, 1);
      requests.admit(request);
      request.locks.acquire(0, problem -> {}, defect -> {});
      if (running) {
        requests.run(request);
      }
      requests.fail(request, new IllegalStateException());
      requests.fail(request, new IllegalStateException());
      assertEquals(1, answers.size());
      assertTrue(source.owners.isEmpty());
      assertTrue(requests.all().isEmpty());
      assertEquals(0, requests.count(LockType.FOREGROUND));
    }
    HeldRequest done = request(LockType.FOREGROUND, 1);
    requests.admit(done);
    requests.run(done);
    assertTrue(requests.end(done));
    requests.fail(done, new IllegalStateException());
    assertEquals(1, answers.size(), "it has its answer");
  }

  @Test
  void theRestOfARequestCountsWhateverTheBounds() {
    admit(LockType.BACKGROUND, 1);
    admit(LockType.BACKGROUND, 1);
    HeldRequest rest = request(LockType.BACKGROUND, 60);
    assertTrue(requests.keep(rest));
    assertTrue(requests.runCounted(rest));
    assertEquals(3, requests.count(LockType.BACKGROUND));
    assertEquals(Admission.TOO_MANY, admit(LockType.FOREGROUND, 1));
    requests.end(rest);
    assertEquals(Admission.ADMITTED, admit(LockType.FOREGROUND, 1));
    requests.close();
    assertFalse(requests.keep(request(LockType.BACKGROUND, 1)));
  }

  @Test
  void whatIsCancelledFreesItsRoom() {
    HeldRequest request = request(LockType.BACKGROUND, 7);
    requests.admit(request);
    request.locks.acquire(1000, problem -> {}, defect -> {});
    assertTrue(source.owners.containsKey("m7"));
    assertEquals(1, requests.cancel(held -> held.type == LockType.BACKGROUND, "test"));
    assertEquals(RestStatus.CONFLICT, ((OpenSearchStatusException) answers.get(0)).status());
    assertFalse(requests.run(request));
    assertFalse(source.owners.containsKey("m7"));
    assertEquals(0, requests.bytes(LockType.BACKGROUND));
    assertEquals(1, stats.of(LockType.BACKGROUND).get(Stats.Count.CANCELLED));
  }

  @Test
  void closingAnswersAllAndTakesNoMore() {
    admit(LockType.FOREGROUND, 1);
    admit(LockType.BACKGROUND, 1);
    assertEquals(2, requests.close());
    assertEquals(2, answers.size());
    assertEquals(RestStatus.SERVICE_UNAVAILABLE, ((OpenSearchStatusException) answers.get(0)).status());
    assertEquals(Admission.CLOSED, admit(LockType.FOREGROUND, 1));
  }

  @Test
  void aWrongSettingOfTheQueueIsRefused() {
    Settings wrong = Settings.builder().put("forelock.queue.mode", "on").put("forelock.queue.retries", "-2").build();
    for (Setting<?> setting : List.of(ForelockSettings.QUEUE_MODE, ForelockSettings.QUEUE_RETRIES)) {
      String message = org.junit.jupiter.api.Assertions.assertThrows(
          IllegalArgumentException.class, () -> setting.get(wrong)).getMessage();
      assertTrue(message.contains(setting.getKey()), message);
    }
  }

  @Test
  void wrongSettingsAreRefusedWithTheirNames() {
    for (String[] wrong : new String[][] {{"forelock.on_unavailable", "perhaps"},
        {"forelock.foreground.timeout", "-5s"},
        {"forelock.background.max_requests", "-1"}, {"forelock.foreground.max_bytes", "much"}}) {
      String message = org.junit.jupiter.api.Assertions.assertThrows(IllegalArgumentException.class,
          () -> requests(Settings.builder().put(wrong[0], wrong[1]).build())).getMessage();
      assertTrue(message.contains(wrong[0]), message);
    }
  }
}
