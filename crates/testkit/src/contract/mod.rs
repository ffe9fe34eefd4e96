//! The contract of [`Store`](gateway_domain::ports::Store): one suite that every store passes.
//!
//! `store_contract!(make)` stamps it out where `async fn make(log_entries: usize) -> Bench` gives an empty store that
//! holds at least so many entries of a task's log, and less than twice as many.
#![allow(clippy::unwrap_used, reason = "a suite fails by panicking")]
#![allow(missing_docs, reason = "the name of a case says what it promises")]

mod all_tasks;
mod asks;
mod bench;
mod commits;
mod configs;
mod creation;
mod discards;
mod filters;
mod follows;
mod inline;
mod lists;
mod logs;
mod pages;
mod purges;
mod races;
mod sends;
mod work;

use std::{future::Future, time::Duration};

pub use bench::Bench;

/// Entries that the store of most cases holds of a task's log.
pub const LONG_LOG: usize = 2_000;
/// Entries where a case is about what is no longer held.
pub const SHORT_LOG: usize = 8;

/// Far beyond what any case takes: a store that forgets to tell its followers fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs one case.
///
/// # Panics
/// Where the store breaks its contract, or takes forever.
pub async fn within_patience(case: impl Future<Output = ()>) {
    tokio::time::timeout(PATIENCE, case)
        .await
        .expect("the case is still waiting for the store");
}

/// Writes the macro that stamps the suite out. The list below is the only one: the compiler warns of a
/// case that it does not name. The first token is a dollar sign for the macro that is written.
macro_rules! contract {
    ($d:tt $($entries:ident: $($module:ident::{ $($case:ident),* $(,)? })*;)*) => {
        /// The cases, each of which takes an empty store.
        pub mod cases {
            $($(pub use super::$module::{$($case),*};)*)*
        }

        /// One test for each promise of a store. Takes the name of an `async fn(log_entries: usize) -> Bench`.
        #[macro_export]
        macro_rules! store_contract {
            ($d make:ident) => {
                $($($(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                    async fn $case() {
                        let bench = $d make($d crate::contract::$entries).await;
                        $d crate::contract::within_patience($d crate::contract::cases::$case(&bench)).await;
                    }
                )*)*)*
            };
        }
    };
}

contract! { $
    LONG_LOG:
        creation::{
            a_created_task_is_there_for_every_read,
            a_created_task_brings_its_configuration,
            an_id_that_is_taken_is_refused_and_the_first_task_stays,
            a_refused_creation_leaves_nothing,
            the_live_limit_is_exact_under_64_concurrent_creations,
            the_live_limit_counts_hidden_tasks,
            the_live_limit_counts_a_tenant_whoever_owns_its_tasks,
            a_finished_task_makes_room_for_a_live_one,
            a_discarded_task_makes_room_for_a_live_one,
        }
        discards::{
            a_hidden_task_is_discarded_as_if_it_had_never_been,
            a_visible_task_is_not_discarded,
            a_task_that_was_shown_is_not_discarded,
            discarding_what_is_not_there_says_so,
            a_discarded_id_can_be_created_again,
        }
        commits::{
            a_commit_is_seen_by_every_read_that_follows,
            a_commit_on_a_revision_that_has_passed_conflicts_and_changes_nothing,
            a_commit_that_runs_ahead_conflicts,
            a_commit_to_a_task_that_is_not_there_says_so,
            a_snapshot_in_hand_stays_as_it_was_read,
            a_task_is_the_fold_of_its_log,
            a_repeated_state_takes_the_new_message_and_moment,
        }
        logs::{
            a_log_is_read_in_pages_without_gap_or_repeat,
            a_reader_that_has_all_gets_nothing,
            the_log_of_a_task_that_is_not_there_is_gone,
            entries_keep_their_cursors_and_what_goes_out,
            each_entry_follows_the_one_before_and_no_other,
            a_place_that_is_none_of_the_log_is_told_apart,
        }
        follows::{
            a_follower_is_told_of_the_newest_commit_when_it_returns,
            a_follower_that_comes_late_begins_with_the_newest_pulse,
            a_follower_that_comes_when_others_have_left_is_told_as_well,
            a_task_that_is_not_there_cannot_be_followed,
            the_channel_closes_when_the_task_is_discarded,
            the_channel_of_a_finished_task_stays_open_while_it_is_kept,
            a_shown_task_is_told_of,
        }
        lists::{
            tasks_are_listed_newest_status_first,
            tasks_of_one_moment_are_listed_by_id_descending,
            a_status_moves_a_task_to_the_front,
            messages_and_artifacts_do_not_move_a_task,
            hidden_tasks_are_listed_once_they_are_shown,
            finished_tasks_are_listed,
            a_scope_lists_its_own_tasks_only,
            a_scope_without_tasks_lists_nothing,
            history_and_artifacts_are_listed_as_asked,
        }
        filters::{
            a_context_a_state_and_both_select_their_tasks,
            a_filter_by_time_takes_in_its_moment_and_what_is_later,
            a_position_older_than_the_filter_ends_the_list,
            every_filter_on_every_page_size_lists_what_a_plain_search_finds,
        }
        pages::{
            pages_join_to_the_whole_list_even_where_moments_are_equal,
            a_page_that_ends_the_list_exactly_says_that_no_more_follows,
            a_position_of_a_task_that_is_gone_is_still_a_place,
            what_does_not_move_is_neither_skipped_nor_repeated_while_others_do,
        }
        all_tasks::{
            all_tasks_come_by_id_whatever_their_scope_state_and_sight,
            all_tasks_are_read_on_after_any_id,
        }
        configs::{
            a_configuration_reads_back_with_its_secrets,
            a_configuration_of_a_task_that_is_not_there_is_refused,
            a_configuration_that_is_not_there_is_nothing,
            the_limit_refuses_a_further_configuration_but_no_replacement,
            a_replacement_takes_the_place_and_leaves_no_row,
            the_limit_is_exact_under_32_concurrent_configurations,
            configurations_of_a_task_are_paged_by_id,
            all_configurations_are_paged_by_row,
            a_deleted_configuration_is_gone_and_deleting_again_says_so,
            tasks_do_not_share_their_configurations,
            a_configuration_does_not_change_its_task,
            a_finished_task_keeps_its_configurations,
        }
        inline::{
            a_change_brings_its_configuration,
            a_change_whose_configuration_is_over_the_limit_is_not_applied,
            a_change_may_replace_a_configuration_at_the_limit,
            a_change_that_conflicts_stores_no_configuration,
            the_limit_is_exact_under_16_concurrent_changes_with_a_configuration,
        }
        purges::{
            a_purged_task_is_gone_for_every_read_and_its_followers,
            a_purge_makes_room_for_live_tasks,
            the_purge_of_a_context_takes_its_tasks_of_one_tenant_in_any_state,
            the_purge_of_a_tenant_takes_everything_of_it_and_nothing_else,
            a_purge_beside_calls_loses_no_task_that_it_leaves,
        }
        sends::{
            a_send_is_remembered_with_the_task_that_it_made,
            a_send_that_is_remembered_makes_no_second_task,
            a_repeated_send_comes_before_the_live_limit,
            a_send_is_remembered_with_the_entry_that_it_made,
            a_change_that_conflicts_remembers_no_send,
            a_send_is_forgotten_when_its_time_is_over,
            a_discarded_task_takes_its_send_along,
            a_task_that_was_answered_with_a_message_leaves_it_with_its_send,
            a_visible_task_is_not_discarded_for_an_answer,
            a_forgotten_send_can_come_again,
            senders_and_tenants_do_not_share_their_sends,
            the_oldest_sends_of_a_tenant_are_forgotten_when_there_are_too_many,
            the_oldest_sends_of_a_tenant_are_forgotten_when_they_take_too_many_bytes,
            of_50_equal_sends_at_once_exactly_one_makes_a_task,
            of_50_equal_messages_at_once_exactly_one_goes_into_the_task,
        }
        races::{
            of_two_commits_on_one_revision_one_is_applied,
            a_hundred_commits_that_decide_again_take_a_hundred_revisions,
            commits_to_different_tasks_do_not_conflict,
            a_task_is_either_shown_or_discarded,
            what_a_follower_is_told_can_be_read,
            a_follower_never_hears_of_less_than_before_and_ends_at_the_last_commit,
            a_page_is_in_order_while_its_tasks_move,
        }
        work::{
            a_run_is_held_by_whoever_begins_it_until_its_lease_runs_out,
            each_time_that_a_run_is_taken_its_attempt_and_its_grant_are_counted_on,
            of_a_run_the_holders_who_lost_it_are_counted_and_those_who_gave_it_back_are_not,
            a_renewed_lease_is_held_and_one_that_was_taken_is_lost,
            a_late_holder_cannot_write_even_on_the_newest_revision,
            a_late_holder_on_a_revision_that_has_passed_is_told_to_decide_again,
            the_end_of_a_task_ends_its_run_in_the_same_step,
            a_discarded_task_takes_its_run_along,
            work_that_is_given_back_is_due_at_its_moment,
            a_settled_run_is_gone_and_the_next_has_a_later_grant,
            at_most_so_much_work_is_taken_the_longest_due_first,
            of_many_that_take_at_once_one_has_each_piece_of_work,
            a_configuration_brings_its_delivery_from_the_revision_that_it_was_stored_at,
            a_delivery_goes_on_where_its_last_holder_stopped_also_after_the_tasks_end,
            a_deleted_and_a_replaced_configuration_lose_their_delivery,
        }
        asks::{
            a_message_for_a_run_that_is_held_is_asked_of_its_holder_in_order,
            a_run_is_not_settled_while_more_was_asked_than_its_holder_has_seen,
            a_cancel_is_asked_with_its_metadata_where_there_is_a_run,
            an_answer_is_found_by_its_number_on_every_replica_and_outlives_the_run,
            what_was_answered_for_good_is_asked_no_more_and_what_is_kept_is,
            a_late_holder_neither_sees_what_is_asked_nor_answers,
            what_is_asked_is_bounded_and_the_first_and_the_latest_stay,
            answers_are_bounded_and_the_latest_stay,
            whoever_listens_hears_of_what_is_asked_answered_and_given_back,
        };
    SHORT_LOG:
        logs::{
            entries_beyond_the_bound_are_gone_and_the_newest_are_held,
            the_oldest_entry_held_tells_what_it_follows,
            a_task_stays_whole_when_its_log_is_cut,
        };
}
