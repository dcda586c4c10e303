package org.forelock.elasticsearch;

import org.elasticsearch.TransportVersion;
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
  public void sendResponse(TransportResponse response) {
    before.run();
    channel.sendResponse(response);
  }

  @Override
  public void sendResponse(Exception problem) {
    before.run();
    channel.sendResponse(problem);
  }

  @Override
  public TransportVersion getVersion() {
    return channel.getVersion();
  }
}
