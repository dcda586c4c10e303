package org.forelock.elasticsearch;

import java.util.Collection;
import java.util.List;
import org.elasticsearch.action.ActionRequest;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.Plugin;

/** A Plugin with its actions, whose type differs between Elasticsearch 8 and 9. */
abstract class PluginBase extends Plugin implements ActionPlugin {
  @Override
  public final Collection<ActionHandler<? extends ActionRequest, ? extends ActionResponse>> getActions() {
    return List.of(new ActionHandler<>(Questions.LOCKS, Questions.LocksAction.class),
        new ActionHandler<>(Questions.METRICS, Questions.MetricsAction.class),
        new ActionHandler<>(Questions.STATS, Questions.StatsAction.class),
        new ActionHandler<>(Questions.CANCEL, Questions.CancelAction.class),
        new ActionHandler<>(Questions.PRIORITIZE, Questions.PrioritizeAction.class),
        new ActionHandler<>(Questions.FOREGROUND, Questions.ForegroundAction.class),
        new ActionHandler<>(Questions.LEASE_TAKE, LeaseActions.Take.class),
        new ActionHandler<>(Questions.LEASE_USE, LeaseActions.Use.class),
        new ActionHandler<>(Questions.LEASE_LIST, LeaseActions.All.class),
        new ActionHandler<>(Wiring.TYPE, Wiring.class));
  }
}
