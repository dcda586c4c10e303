package engines;

import java.util.Optional;
import org.opensearch.index.IndexSettings;
import org.opensearch.index.engine.EngineFactory;
import org.opensearch.index.engine.InternalEngine;
import org.opensearch.plugins.EnginePlugin;
import org.opensearch.plugins.Plugin;

/** A plugin with an engine of its own for indices by their name. A node takes no second one for an index. */
public final class Engines extends Plugin implements EnginePlugin {
  @Override
  public Optional<EngineFactory> getEngineFactory(IndexSettings index) {
    return index.getIndex().getName().startsWith("engines-") ? Optional.of(InternalEngine::new) : Optional.empty();
  }
}
