module probe {
  requires org.forelock;
}
