package org.forelock.opensearch;

import java.io.IOException;
import java.util.Optional;
import org.opensearch.Version;
import org.opensearch.core.transport.TransportResponse;
import org.opensearch.transport.TransportChannel;

/**
 * A WatchedChannel does something before the answer is sent.
 *
 * <p>Public, with the channel inside: OpenSearch Security looks for that by reflection where it does not know the type.
 */
public final class WatchedChannel implements TransportChannel {
  private final TransportChannel channel;
  private final Runnable before;

  WatchedChannel(TransportChannel channel, Runnable before) {
    this.channel = channel;
    this.before = before;
  }

  /** The channel that is watched. */
  public TransportChannel getInnerChannel() {
    return channel;
  }

  @Override
  public String getProfileName() {
    return channel.getProfileName();
  }

  @Override
  public String getChannelType() {
    return channel.getChannelType();
  }

  @Override
  public void sendResponse(TransportResponse response) throws IOException {
    before.run();
    channel.sendResponse(response);
  }

  @Override
  public void sendResponse(Exception problem) throws IOException {
    before.run();
    channel.sendResponse(problem);
  }

  @Override
  public Version getVersion() {
    return channel.getVersion();
  }

  @Override
  public <T> Optional<T> get(String name, Class<T> type) {
    return channel.get(name, type);
  }
}
