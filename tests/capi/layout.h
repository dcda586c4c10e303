/* The layout of the structures, and the numbers, on 64-bit machines: they do not change. A structure that begins with
   its size may get members at its end: its size here changes then, and nothing else. Included by a program in C and by
   one in C++. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
#define ASSERT(condition, text) static_assert(condition, text)
#else
#define ASSERT(condition, text) _Static_assert(condition, text)
#endif
#define SIZE(type, bytes) ASSERT(sizeof(type) == (bytes), "the size of " #type)
#define OFFSET(type, member, bytes) ASSERT(offsetof(type, member) == (bytes), "the place of " #member " in " #type)
#define NUMBER(name, number) ASSERT((name) == (number), "the number of " #name)

NUMBER(FL_OK, 0);
NUMBER(FL_LOCK_TIMEOUT, 1);
NUMBER(FL_LOCK_UNAVAILABLE, 2);
NUMBER(FL_CANCELLED, 3);
NUMBER(FL_SESSION_EXPIRED, 4);
NUMBER(FL_CONNECTION_LOSS, 5);
NUMBER(FL_NO_NODE, 6);
NUMBER(FL_LOCK_UNHEALTHY, 7);
NUMBER(FL_NOT_AUTHORIZED, 8);
NUMBER(FL_QUOTA_EXCEEDED, 9);
NUMBER(FL_INVALID_ARGUMENT, 10);
NUMBER(FL_REQUEST_TOO_LARGE, 11);
NUMBER(FL_WRITE_CONFLICT, 12);
NUMBER(FL_NOT_HELD, 13);
NUMBER(FL_ALREADY_HELD, 14);
NUMBER(FL_CONFIGURATION, 15);
NUMBER(FL_CLOSED, 16);
NUMBER(FL_FORKED, 17);
NUMBER(FL_SERVER_ERROR, 18);
NUMBER(FL_INTERNAL, 19);
NUMBER(FL_HANDLER_FAILED, 20);
NUMBER(FL_OVERLOADED, 21);
NUMBER(FL_OUTBOX_FULL, 22);
NUMBER(FL_OUTBOX_UNAVAILABLE, 23);
NUMBER(FL_KAFKA_UNAVAILABLE, 24);
NUMBER(FL_KAFKA_REJECTED, 25);
NUMBER(FL_RECORD_INVALID, 26);
NUMBER(FL_RECORD_TOO_NEW, 27);
NUMBER(FL_LOCK_REFUSED, 29);
NUMBER(FL_INVALID_HANDLE, 1001);
NUMBER(FL_OUT_OF_MEMORY, 1002);
NUMBER(FL_ABI_MISMATCH, 1003);

NUMBER(FL_CLIENT_LOG_EVENTS, 1);
NUMBER(FL_CLIENT_LOG_DEBUG, 2);

NUMBER(FL_EVENT_ACQUIRED, 1);
NUMBER(FL_EVENT_RELEASED, 2);
NUMBER(FL_EVENT_LOST, 3);
NUMBER(FL_EVENT_DANGER, 4);
NUMBER(FL_EVENT_QUEUED, 5);
NUMBER(FL_EVENT_CONTENDED, 6);
NUMBER(FL_EVENT_ATTEMPT, 7);
NUMBER(FL_EVENT_FAILURE, 8);
NUMBER(FL_EVENT_OPERATION, 9);
NUMBER(FL_EVENT_LOG, 10);
NUMBER(FL_EVENT_DROPPED, 11);
NUMBER(FL_EVENT_LETTER, 12);
NUMBER(FL_EVENT_REPLAY, 13);

NUMBER(FL_LOSS_DEADLINE_PASSED, 1);
NUMBER(FL_LOSS_SESSION_EXPIRED, 2);
NUMBER(FL_LOSS_REMOVED, 3);
NUMBER(FL_LOSS_CLOSED, 4);

NUMBER(FL_FOREGROUND, 0);
NUMBER(FL_BACKGROUND, 1);

NUMBER(FL_CONFIGURED, -1);
NUMBER(FL_FOREVER, -2);

NUMBER(FL_LOCK_NO_LINGER, 1);

NUMBER(FL_ON_LOST, 1);
NUMBER(FL_ON_DANGER, 2);
NUMBER(FL_ON_QUEUED, 4);
NUMBER(FL_ON_CONTENDED, 8);

NUMBER(FL_STATE_FREE, 0);
NUMBER(FL_STATE_WAITING, 1);
NUMBER(FL_STATE_HELD, 2);
NUMBER(FL_STATE_SUSPECT, 3);
NUMBER(FL_STATE_LOST, 4);

NUMBER(FL_WRITE_CREATE, 1);
NUMBER(FL_WRITE_SET, 2);
NUMBER(FL_WRITE_DELETE, 3);
NUMBER(FL_WRITE_CHECK, 4);

NUMBER(FL_FORCE_RELEASED, 0);
NUMBER(FL_FORCE_HOLDER_CHANGED, 1);
NUMBER(FL_FORCE_NO_SUCH_MONITOR, 2);

NUMBER(FL_SUCCEEDED, 0);
NUMBER(FL_DEAD_LETTERED, 1);

NUMBER(FL_REPLAY_LATER, 1);
NUMBER(FL_REPLAY_FAILED, 2);
NUMBER(FL_REPLAY_PARKED, 3);
NUMBER(FL_REPLAY_LOCKED_OUT, 4);
NUMBER(FL_REPLAY_SKIPPED, 5);
NUMBER(FL_REPLAY_UNREADABLE, 6);

SIZE(fl_client_status, 176);
OFFSET(fl_client_status, size, 0);
OFFSET(fl_client_status, connected, 8);
OFFSET(fl_client_status, session_id, 16);
OFFSET(fl_client_status, session_timeout_ms, 24);
OFFSET(fl_client_status, granted, 32);
OFFSET(fl_client_status, refused, 40);
OFFSET(fl_client_status, lost, 48);
OFFSET(fl_client_status, released, 56);
OFFSET(fl_client_status, requests, 64);
OFFSET(fl_client_status, sessions_expired, 72);
OFFSET(fl_client_status, disconnections, 80);
OFFSET(fl_client_status, contenders, 88);
OFFSET(fl_client_status, instance, 96);
OFFSET(fl_client_status, last_problem, 104);
OFFSET(fl_client_status, taken_again, 112);
OFFSET(fl_client_status, lingering, 120);
OFFSET(fl_client_status, lost_by_reason, 128);
OFFSET(fl_client_status, retries, 160);
OFFSET(fl_client_status, retries_exhausted, 168);

SIZE(fl_event, 72);
OFFSET(fl_event, kind, 0);
OFFSET(fl_event, code, 4);
OFFSET(fl_event, source, 8);
OFFSET(fl_event, tag, 16);
OFFSET(fl_event, value, 24);
OFFSET(fl_event, retryable, 32);
OFFSET(fl_event, monitor, 40);
OFFSET(fl_event, name, 48);
OFFSET(fl_event, message, 56);
OFFSET(fl_event, hint, 64);

SIZE(fl_lock_options, 56);
OFFSET(fl_lock_options, size, 0);
OFFSET(fl_lock_options, expected_runtime_ms, 8);
OFFSET(fl_lock_options, auto_unlock_after_ms, 16);
OFFSET(fl_lock_options, capture_stack, 24);
OFFSET(fl_lock_options, thread_name, 32);
OFFSET(fl_lock_options, flags, 40);
OFFSET(fl_lock_options, queue_max, 48);

SIZE(fl_owner, 80);
OFFSET(fl_owner, lock_info, 0);
OFFSET(fl_owner, instance, 8);
OFFSET(fl_owner, guid, 16);
OFFSET(fl_owner, stack, 24);
OFFSET(fl_owner, priority, 32);
OFFSET(fl_owner, enqueued_at_ms, 40);
OFFSET(fl_owner, acquired_at_ms, 48);
OFFSET(fl_owner, expected_runtime_ms, 56);
OFFSET(fl_owner, alert_at_ms, 64);
OFFSET(fl_owner, auto_unlock_at_ms, 72);

SIZE(fl_write, 32);
OFFSET(fl_write, kind, 0);
OFFSET(fl_write, version, 4);
OFFSET(fl_write, path, 8);
OFFSET(fl_write, data, 16);
OFFSET(fl_write, length, 24);

SIZE(fl_monitor, 192);
OFFSET(fl_monitor, size, 0);
OFFSET(fl_monitor, monitor, 8);
OFFSET(fl_monitor, path, 16);
OFFSET(fl_monitor, held, 24);
OFFSET(fl_monitor, has_owner, 28);
OFFSET(fl_monitor, owner, 32);
OFFSET(fl_monitor, holder_priority, 112);
OFFSET(fl_monitor, holder_node, 120);
OFFSET(fl_monitor, holder_session, 128);
OFFSET(fl_monitor, holder_token, 136);
OFFSET(fl_monitor, held_ms, 144);
OFFSET(fl_monitor, waiting, 152);
OFFSET(fl_monitor, waiting_foreground, 160);
OFFSET(fl_monitor, waiting_background, 168);
OFFSET(fl_monitor, linger_ms, 176);
OFFSET(fl_monitor, oldest_wait_ms, 184);

SIZE(fl_waiter, 152);
OFFSET(fl_waiter, size, 0);
OFFSET(fl_waiter, position, 8);
OFFSET(fl_waiter, node, 16);
OFFSET(fl_waiter, behind, 24);
OFFSET(fl_waiter, has_owner, 32);
OFFSET(fl_waiter, owner, 40);
OFFSET(fl_waiter, priority, 120);
OFFSET(fl_waiter, session, 128);
OFFSET(fl_waiter, waited_ms, 136);
OFFSET(fl_waiter, linger_ms, 144);

SIZE(fl_holder_token, 24);
OFFSET(fl_holder_token, size, 0);
OFFSET(fl_holder_token, token, 8);
OFFSET(fl_holder_token, age_ns, 16);

SIZE(fl_seen_set, 184);
OFFSET(fl_seen_set, size, 0);
OFFSET(fl_seen_set, id, 8);
OFFSET(fl_seen_set, members, 16);
OFFSET(fl_seen_set, named, 24);
OFFSET(fl_seen_set, held, 32);
OFFSET(fl_seen_set, waits_for, 40);
OFFSET(fl_seen_set, behind_holder, 48);
OFFSET(fl_seen_set, has_owner, 52);
OFFSET(fl_seen_set, owner, 56);
OFFSET(fl_seen_set, holder_priority, 136);
OFFSET(fl_seen_set, holder_node, 144);
OFFSET(fl_seen_set, holder_session, 152);
OFFSET(fl_seen_set, holder_token, 160);
OFFSET(fl_seen_set, held_ms, 168);
OFFSET(fl_seen_set, linger_ms, 176);

SIZE(fl_dlq_status, 72);
OFFSET(fl_dlq_status, size, 0);
OFFSET(fl_dlq_status, outbox_rows, 8);
OFFSET(fl_dlq_status, outbox_bytes, 16);
OFFSET(fl_dlq_status, oldest_age_ms, 24);
OFFSET(fl_dlq_status, accepted, 32);
OFFSET(fl_dlq_status, delivered, 40);
OFFSET(fl_dlq_status, delivery_failures, 48);
OFFSET(fl_dlq_status, forwarding, 56);
OFFSET(fl_dlq_status, last_problem, 64);

SIZE(fl_runner_options, 48);
OFFSET(fl_runner_options, size, 0);
OFFSET(fl_runner_options, backoff_initial_ms, 8);
OFFSET(fl_runner_options, backoff_cap_ms, 16);
OFFSET(fl_runner_options, max_operations, 24);
OFFSET(fl_runner_options, retry_burst, 32);
OFFSET(fl_runner_options, retries_per_second, 40);

SIZE(fl_operation_spec, 80);
OFFSET(fl_operation_spec, size, 0);
OFFSET(fl_operation_spec, id, 8);
OFFSET(fl_operation_spec, type, 16);
OFFSET(fl_operation_spec, monitor, 24);
OFFSET(fl_operation_spec, priority, 32);
OFFSET(fl_operation_spec, payload, 40);
OFFSET(fl_operation_spec, payload_length, 48);
OFFSET(fl_operation_spec, lock_info, 56);
OFFSET(fl_operation_spec, traceparent, 64);
OFFSET(fl_operation_spec, timeout_ms, 72);

SIZE(fl_failed_attempt, 40);
OFFSET(fl_failed_attempt, size, 0);
OFFSET(fl_failed_attempt, at_ms, 8);
OFFSET(fl_failed_attempt, code, 16);
OFFSET(fl_failed_attempt, message, 24);
OFFSET(fl_failed_attempt, waited_ms, 32);

SIZE(fl_replay_options, 144);
OFFSET(fl_replay_options, size, 0);
OFFSET(fl_replay_options, ids, 8);
OFFSET(fl_replay_options, id_count, 16);
OFFSET(fl_replay_options, monitors, 24);
OFFSET(fl_replay_options, monitor_count, 32);
OFFSET(fl_replay_options, types, 40);
OFFSET(fl_replay_options, type_count, 48);
OFFSET(fl_replay_options, reasons, 56);
OFFSET(fl_replay_options, reason_count, 64);
OFFSET(fl_replay_options, since_ms, 72);
OFFSET(fl_replay_options, until_ms, 80);
OFFSET(fl_replay_options, parked, 88);
OFFSET(fl_replay_options, outbox, 92);
OFFSET(fl_replay_options, max, 96);
OFFSET(fl_replay_options, rate, 104);
OFFSET(fl_replay_options, concurrency, 112);
OFFSET(fl_replay_options, lock_timeout_ms, 120);
OFFSET(fl_replay_options, max_tries, 128);
OFFSET(fl_replay_options, max_unresolved, 136);

SIZE(fl_replay_preview, 40);
OFFSET(fl_replay_preview, size, 0);
OFFSET(fl_replay_preview, letters, 8);
OFFSET(fl_replay_preview, unreadable, 16);
OFFSET(fl_replay_preview, overtaken, 24);
OFFSET(fl_replay_preview, oldest_ms, 32);

SIZE(fl_letter, 120);
OFFSET(fl_letter, size, 0);
OFFSET(fl_letter, id, 8);
OFFSET(fl_letter, type, 16);
OFFSET(fl_letter, monitor, 24);
OFFSET(fl_letter, priority, 32);
OFFSET(fl_letter, tries, 36);
OFFSET(fl_letter, lock_info, 40);
OFFSET(fl_letter, payload, 48);
OFFSET(fl_letter, payload_length, 56);
OFFSET(fl_letter, reason, 64);
OFFSET(fl_letter, failure_count, 72);
OFFSET(fl_letter, max_attempts, 80);
OFFSET(fl_letter, replay_count, 84);
OFFSET(fl_letter, enqueued_at_ms, 88);
OFFSET(fl_letter, failed_at_ms, 96);
OFFSET(fl_letter, instance, 104);
OFFSET(fl_letter, traceparent, 112);

SIZE(fl_replay_report, 88);
OFFSET(fl_replay_report, size, 0);
OFFSET(fl_replay_report, replayed, 8);
OFFSET(fl_replay_report, failed, 16);
OFFSET(fl_replay_report, later, 24);
OFFSET(fl_replay_report, parked, 32);
OFFSET(fl_replay_report, skipped, 40);
OFFSET(fl_replay_report, unreadable, 48);
OFFSET(fl_replay_report, stopped, 56);
OFFSET(fl_replay_report, unresolved, 64);
OFFSET(fl_replay_report, unresolved_left_out, 72);
OFFSET(fl_replay_report, unsettled, 80);

SIZE(fl_unresolved_letter, 48);
OFFSET(fl_unresolved_letter, size, 0);
OFFSET(fl_unresolved_letter, id, 8);
OFFSET(fl_unresolved_letter, type, 16);
OFFSET(fl_unresolved_letter, monitor, 24);
OFFSET(fl_unresolved_letter, outcome, 32);
OFFSET(fl_unresolved_letter, why, 40);

#undef ASSERT
#undef SIZE
#undef OFFSET
#undef NUMBER
