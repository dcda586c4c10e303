package org.forelock.opensearch;

import java.nio.file.Path;
import java.util.Collection;
import java.util.function.Supplier;
import org.forelock.search.Folders;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.core.common.io.stream.NamedWriteableRegistry;
import org.opensearch.core.xcontent.NamedXContentRegistry;
import org.opensearch.env.Environment;
import org.opensearch.env.NodeEnvironment;
import org.opensearch.plugins.Plugin;
import org.opensearch.repositories.RepositoriesService;
import org.opensearch.script.ScriptService;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.client.Client;
import org.opensearch.watcher.ResourceWatcherService;

/** A Plugin without what differs between OpenSearch 2 and 3. */
abstract class PluginBase extends Plugin {
  abstract Collection<Object> components(
      ClusterService cluster, ThreadPool threads, Folders folders, IndexNameExpressionResolver resolver,
      RestBase.Actions actions);

  @Override
  public final Collection<Object> createComponents(Client client, ClusterService cluster, ThreadPool threads,
      ResourceWatcherService watcher, ScriptService scripts, NamedXContentRegistry contents, Environment environment,
      NodeEnvironment nodeEnvironment, NamedWriteableRegistry writeables, IndexNameExpressionResolver resolver,
      Supplier<RepositoriesService> repositories) {
    Path data = nodeEnvironment.hasNodeFile() ? nodeEnvironment.nodeDataPaths()[0] : null;
    Folders folders = new Folders(environment.configDir(), environment.pluginsDir(), data);
    return components(cluster, threads, folders, resolver, client::execute);
  }
}
