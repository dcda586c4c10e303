package example.articles;

import org.forelock.ForelockClient;
import org.forelock.search.ForelockExtension;
import org.forelock.search.LockContext;

/** Gets the node's locks for the plugin. */
public final class ArticlesExtension implements ForelockExtension {
  private final ArticlesPlugin plugin;

  /** Called by the node. */
  public ArticlesExtension(ArticlesPlugin plugin) {
    this.plugin = plugin;
  }

  @Override
  public void useContext(LockContext context) {
    plugin.context = context;
  }

  @Override
  public void useForelock(ForelockClient client) {
    plugin.locks = client;
  }
}
