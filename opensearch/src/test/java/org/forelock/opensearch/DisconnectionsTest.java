package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.core.action.ActionListener;
import org.opensearch.http.HttpChannel;
import org.opensearch.http.HttpResponse;

class DisconnectionsTest {
  private final ThreadContext context = new ThreadContext(Settings.EMPTY);
  private final Disconnections disconnections = new Disconnections();
  private final Client client = new Client();
  private int cancelled;

  DisconnectionsTest() {
    context.putTransient(Disconnections.KEY, client);
  }

  private static final class Client implements HttpChannel {
    private final List<ActionListener<Void>> listeners = new ArrayList<>();
    private boolean open = true;

    @Override
    public void sendResponse(HttpResponse response, ActionListener<Void> listener) {}

    @Override
    public InetSocketAddress getLocalAddress() {
      return null;
    }

    @Override
    public InetSocketAddress getRemoteAddress() {
      return null;
    }

    @Override
    public void close() {
      open = false;
      listeners.forEach(listener -> listener.onResponse(null));
    }

    @Override
    public void addCloseListener(ActionListener<Void> listener) {
      if (open) {
        listeners.add(listener);
      } else {
        listener.onResponse(null);
      }
    }

    @Override
    public boolean isOpen() {
      return open;
    }
  }

  private Runnable watch() {
    return disconnections.watch(context, () -> ++cancelled);
  }

  @Test
  void whatIsWatchedEndsWithItsConnection() {
    watch();
    watch().run();
    watch();
    assertEquals(1, client.listeners.size(), "however many requests it carries");
    client.close();
    assertEquals(2, cancelled);
  }

  @Test
  void whatComesBehindTheEndOfItsConnectionEndsAtOnce() {
    watch();
    client.close();
    watch();
    watch();
    assertEquals(3, cancelled);
  }
}
