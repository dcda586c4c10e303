package org.forelock.elasticsearch;

import java.io.IOException;
import org.elasticsearch.Version;
import org.elasticsearch.transport.TransportChannel;
import org.elasticsearch.transport.TransportResponse;

/** A WatchedChannel does something before the answer is sent. */
final class WatchedChannel implements TransportChannel {
  private final TransportChannel channel;
  private final Runnable before;

  WatchedChannel(TransportChannel channel, Runnable before) {
    this.channel = channel;
    this.before = before;
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
}
