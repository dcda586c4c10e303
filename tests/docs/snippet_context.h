// The context that the snippets of the documentation assume: the reader's own program.
#pragma once

#include <forelock/forelock.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

struct Document {};

struct Database {
  template <class... Values>
  void execute(const char* statement, const Values&... values);
};

std::vector<Document> all_documents();
void reindex(const Document& document);
void reindex_first_half();
void reindex_second_half();
bool search_cluster_is_red();
int save_article();
std::string new_body();
Database& database();
void flush_what_is_done();
void write_export(const std::stop_token& stop);
void run_on_a_worker(std::function<void()> work);
void answer(const std::exception_ptr& error);
void answer_too_busy(const std::exception_ptr& error);
