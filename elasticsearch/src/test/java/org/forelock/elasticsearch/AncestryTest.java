package org.forelock.elasticsearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;
import org.forelock.search.TaskName;
import org.junit.jupiter.api.Test;

class AncestryTest {
  private final Map<Long, Task> tasks = new HashMap<>();
  private final List<TaskName> cancelled = new ArrayList<>();
  private final Ancestry ancestry = new Ancestry(tasks::get, () -> "here", cancelled::add);
  private final CancellableTask job = new CancellableTask(1, "direct", "job", "", TaskId.EMPTY_TASK_ID, Map.of());
  private final Task bulk = new Task(2, "transport", "bulk", "", new TaskId("here", 1), Map.of());
  private final Task part = new Task(3, "transport", "part", "", new TaskId("here", 2), Map.of());

  AncestryTest() {
    for (Task task : List.of(job, bulk, part)) {
      tasks.put(task.getId(), task);
    }
  }

  @Test
  void aTaskDescendsFromThoseThatHaveBegunIt() {
    assertTrue(ancestry.descends(part, new TaskName("here", 3)), "and from itself");
    assertTrue(ancestry.descends(part, new TaskName("here", 2)));
    assertTrue(ancestry.descends(part, new TaskName("here", 1)));
    assertFalse(ancestry.descends(part, new TaskName("there", 1)));
    assertFalse(ancestry.descends(bulk, new TaskName("here", 3)));
    Task fromElsewhere = new Task(9, "transport", "part", "", new TaskId("there", 7), Map.of());
    assertTrue(ancestry.descends(fromElsewhere, new TaskName("there", 7)));
  }

  @Test
  void anAncestorThatIsCancelledIsToldOnceHoweverOftenItIsWatched() throws Exception {
    ancestry.watch(part);
    ancestry.watch(part);
    ancestry.watch(bulk);
    assertEquals(List.of(), cancelled);
    Method cancel = CancellableTask.class.getDeclaredMethod("cancel", String.class); // the task manager's
    cancel.setAccessible(true);
    cancel.invoke(job, "test");
    assertEquals(List.of(new TaskName("here", 1)), cancelled);
  }
}
