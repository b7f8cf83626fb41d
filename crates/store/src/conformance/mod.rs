//! The suite every backend runs: one function per promise, a fresh store each.
//!
//! A backend's tests hand [`conformance_tests!`](crate::conformance_tests) a function that makes an
//! empty store and whatever must live as long as it; each promise becomes one test. Plans come from
//! the real authorizer, so a promise is about what a grant lets a reader notice.

pub mod aggregates;
pub mod authority;
pub mod blobs;
pub mod catalogues;
pub mod change_log;
pub mod changes;
pub mod clients;
pub mod constraints;
pub mod event_queue;
mod event_world;
pub mod events;
pub mod expand;
pub mod filters;
pub mod ingest;
pub mod ledger;
pub mod moving;
pub mod oauth;
mod oauth_world;
pub mod owners;
pub mod paging;
pub mod quotas;
pub mod search;
pub mod single;
pub mod subjects;
pub mod summaries;
pub mod sync_states;
mod world;

/// Makes one `#[tokio::test]` per promise, in a module per subject.
///
/// Takes the absolute path of a function `fn() -> (Arc<dyn Store>, Guard)`.
#[macro_export]
macro_rules! conformance_tests {
    ($make:path) => {
        $crate::each_promise!(conformance_tests_of, $make);
    };
}

/// Hands the table of promises to another macro of this crate.
#[doc(hidden)]
#[macro_export]
macro_rules! each_promise {
    ($callback:ident, $($argument:tt)*) => {
        $crate::$callback! { [$($argument)*]
            ingest: a_new_record_is_added_and_can_be_read,
                members_keep_their_order,
                the_same_record_again_changes_nothing,
                mutable_state_is_replaced_whole,
                an_append_only_record_is_never_rewritten,
                a_deletion_removes_the_record_and_repeats_harmlessly,
                a_deleted_record_can_come_back,
                a_batch_is_applied_in_order,
                a_rejected_record_does_not_cost_the_others,
                an_empty_batch_is_nothing,
                the_first_accepted_record_makes_a_draft_connection_active,
                a_purged_stream_is_empty_and_starts_anew;
            paging: connections_are_merged_into_one_order,
                pages_follow_each_other_without_gap_or_repeat,
                a_full_last_page_says_that_it_is_the_last,
                without_a_granted_cursor_field_the_key_is_the_order,
                whole_and_broken_numbers_share_one_order,
                writes_between_pages_do_not_disturb_what_was_read,
                a_count_is_exact_on_every_page,
                a_window_tells_total_and_bounds,
                only_shown_fields_are_sent,
                an_empty_stream_is_an_empty_page;
            filters: text_is_matched_exactly,
                long_texts_are_told_apart,
                null_is_a_word_in_text_and_absence_elsewhere,
                booleans_and_numbers_are_matched_by_value,
                one_moment_is_matched_in_every_spelling,
                every_range_operator_holds_at_its_border,
                a_range_can_be_broken_where_values_are_whole,
                several_terms_hold_together,
                a_filtered_page_keeps_the_order;
            constraints: since_is_inclusive_and_until_exclusive,
                records_without_a_time_are_outside_every_time_bound,
                only_chosen_records_are_visible,
                a_record_outside_the_time_bound_is_not_found,
                an_ungranted_connection_is_never_read,
                each_connection_is_read_under_its_own_grant,
                counts_bounds_and_numbers_know_only_visible_records,
                a_grant_keeps_its_time_field_when_the_stream_declares_another;
            single: a_record_is_found_under_every_connection_that_holds_it,
                an_unknown_record_is_absent,
                compound_keys_name_one_record,
                a_found_record_shows_only_asked_and_granted_fields,
                a_hidden_change_neither_moves_nor_respells_what_is_shown;
            expand: children_come_in_their_own_order_up_to_the_limit,
                a_relation_to_one_gives_one_or_none,
                several_relations_come_in_the_order_asked,
                children_obey_their_own_grant,
                deleted_children_are_gone,
                a_single_record_brings_its_children_too;
            aggregates: every_metric_spans_all_connections,
                the_ends_of_time_are_times,
                nothing_sums_to_zero_and_has_no_ends,
                groups_are_ordered_by_size_then_by_name,
                what_the_limit_cuts_is_counted,
                groups_have_the_type_of_their_field,
                long_values_are_groups_of_their_own,
                time_is_cut_into_buckets_of_every_size,
                buckets_follow_the_clock_on_the_wall,
                zones_without_whole_hours_work_too,
                the_limit_keeps_the_earliest_buckets,
                filters_and_grants_narrow_what_is_counted;
            changes: from_the_beginning_every_record_is_told_once,
                new_and_changed_records_are_told,
                a_change_in_a_hidden_field_is_not_noticed,
                a_hidden_change_after_a_visible_one_does_not_repeat_it,
                a_deletion_is_told_once,
                what_came_and_went_unseen_stays_unseen,
                a_record_that_came_back_is_live,
                a_record_deleted_twice_is_told_to_whoever_saw_its_first_life,
                changes_are_told_in_the_order_of_the_latest_visible_one,
                a_tombstone_outside_the_grant_is_not_told,
                pages_of_changes_neither_repeat_nor_skip,
                a_session_ends_where_it_began_to_look,
                a_purge_ends_older_tokens;
            summaries: each_connection_has_its_size_and_age,
                a_deleted_record_counts_no_more,
                a_hidden_change_does_not_make_a_stream_younger,
                a_record_outside_the_grant_does_not_make_a_stream_younger;
            blobs: bytes_survive_and_ranges_are_exact,
                the_same_bytes_are_the_same_blob,
                a_blob_is_seen_only_through_a_record,
                a_reference_without_bytes_is_nothing,
                an_abandoned_upload_leaves_nothing,
                each_connection_that_refers_to_a_blob_is_told,
                a_blob_uploaded_for_another_record_is_not_seen,
                a_blob_goes_with_the_last_record_that_refers_to_it,
                an_upload_waits_for_its_record,
                a_grant_that_hides_the_record_hides_the_blob;
            authority: a_token_is_recognised_by_its_hash_alone,
                a_single_use_grant_gives_one_token,
                a_continuous_grant_gives_many_tokens,
                a_token_for_an_unknown_grant_is_not_issued,
                grants_and_token_are_stored_together_or_not_at_all,
                a_revocation_shows_at_once_and_keeps_its_time,
                owner_tokens_are_revoked_without_touching_clients,
                grants_are_listed_newest_first,
                another_subject_has_no_say,
                a_served_read_is_the_last_use_of_its_grant,
                a_passphrase_is_kept_per_subject_and_replaced;
            oauth: a_request_is_found_by_each_of_its_handles_and_no_other,
                no_more_requests_wait_than_are_allowed,
                a_request_is_for_the_first_owner_it_is_addressed_to,
                a_request_is_decided_once,
                an_approval_allows_the_hosts_it_names_and_a_removed_client_loses_them,
                an_approved_request_is_redeemed_once_and_in_time,
                a_revoked_grant_is_not_redeemed,
                a_code_that_comes_back_ends_what_it_gave,
                a_refresh_token_leaves_one_successor,
                a_family_ends_with_its_access_tokens,
                a_revoked_grant_ends_its_refresh_tokens,
                an_impatient_asker_is_slowed_down,
                one_agent_waits_for_a_request;
            clients: a_client_is_kept_and_a_change_that_matters_ends_its_access,
                a_removed_client_loses_everything,
                a_session_lives_until_it_is_ended,
                attempts_are_counted_in_windows,
                what_ended_is_pruned_and_what_nobody_fetched_is_taken_back;
            owners: an_owner_is_made_once_and_listed_by_name,
                whoever_has_a_passphrase_or_records_is_an_owner,
                a_first_run_link_makes_an_owner_once,
                an_owned_store_takes_no_first_run,
                a_passkey_is_kept_used_and_forgotten;
            quotas: a_quota_is_kept_replaced_and_taken_away,
                records_that_do_not_fit_are_refused_one_by_one,
                above_a_lowered_quota_only_what_makes_room_is_taken,
                an_upload_that_does_not_fit_is_refused_and_leaves_nothing,
                one_owners_quota_leaves_another_alone,
                writers_at_once_do_not_exceed_a_quota_together,
                what_is_used_is_what_is_there_after_any_operations;
            sync_states: a_value_is_replaced_and_the_others_kept,
                every_scope_has_a_state_of_its_own;
            ledger: an_entry_comes_back_whole,
                entries_are_listed_newest_first_up_to_the_limit,
                every_filter_narrows,
                old_entries_can_be_pruned,
                entries_are_counted_by_day,
                many_appends_at_once_are_all_kept,
                another_subjects_entries_are_not_listed;
            catalogues: a_fresh_subject_has_nothing,
                a_manifest_is_added_once_and_kept_verbatim,
                another_document_needs_to_be_told_to_replace,
                two_connectors_do_not_share_a_source_id,
                a_newly_declared_field_is_queryable_in_older_records,
                a_connection_needs_a_registered_connector,
                writers_who_come_first_together_share_one_connection,
                a_name_means_an_id_or_a_label,
                among_several_connections_the_caller_chooses,
                an_unknown_connector_has_no_connection_to_ensure,
                connections_are_listed_oldest_first_and_renamed,
                a_removed_connection_takes_everything_with_it,
                the_sealing_key_stays_the_same,
                a_healthy_store_is_ready;
            change_log: every_accepted_change_is_logged_in_order,
                a_purge_and_a_removal_are_told_to_whoever_follows,
                the_log_is_read_in_pieces,
                the_latest_change_of_some_streams_is_told_whatever_else_came,
                a_subject_has_a_log_of_its_own;
            events: a_subscription_is_kept_whole,
                a_client_has_no_more_subscriptions_than_it_may,
                only_its_holder_sees_a_subscription,
                a_switched_off_subscription_forgets_what_waited,
                a_new_secret_takes_the_place_of_the_old,
                a_receiver_that_fails_for_good_switches_its_subscription_off,
                the_last_revoked_grant_ends_a_subscription_with_one_event,
                an_expired_subscription_ends_without_an_event,
                callbacks_are_allowed_per_client_and_taken_back;
            event_queue: nothing_but_the_challenge_is_due_before_it_is_echoed,
                one_event_waits_per_place_and_keeps_the_earliest_position,
                a_change_while_an_event_is_sent_is_told_afterwards,
                a_retry_says_the_same_and_stands_for_what_came_before_it,
                events_of_a_subscription_go_in_order,
                of_two_workers_one_gets_the_event,
                an_event_with_nothing_to_say_is_dropped_unless_news_came,
                a_position_moves_once,
                what_is_due_at_a_busy_host_does_not_hide_what_is_due_elsewhere,
                what_a_reader_would_see_is_counted_as_the_feed_tells_it;
            search: an_index_is_fed_records_as_they_are,
                neighbours_are_those_of_the_same_thread,
                what_was_found_is_read_again_under_the_plan,
                a_search_is_bounded_by_its_grant_its_times_and_its_filter,
                a_filters_records_are_listed_unless_they_are_many;
            subjects: each_owner_reads_their_own_records,
                a_connection_of_another_owner_cannot_be_written_to_or_removed,
                a_deletion_by_one_owner_leaves_the_others_record;
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests_of {
    ([$make:path] $($module:ident: $($promise:ident),+;)+) => {
        $(mod $module {
            $(#[tokio::test]
            async fn $promise() {
                let (store, _guard) = $make();
                $crate::conformance::$module::$promise(store).await;
            })+
        })+
    };
}
