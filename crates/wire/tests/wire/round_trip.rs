//! Whatever the domain holds comes back equal from protobuf, through bytes.

use gateway_domain::reply::{ConfigPage, Sent, TaskPage};
use gateway_wire::{decode, encode};
use proptest::{collection::vec, prelude::*};

use crate::generate;
use prost::Message;

/// The same message after a journey as bytes.
fn sent<M: Message + Default>(message: &M) -> M {
    M::decode(message.encode_to_vec().as_slice()).expect("what was encoded decodes")
}

proptest! {
    #![proptest_config(generate::cases(128))]

    #[test]
    fn a_message_comes_back(message in generate::message()) {
        prop_assert_eq!(decode::message(sent(&encode::message(&message))).unwrap(), message);
    }

    #[test]
    fn an_artifact_comes_back(artifact in generate::artifact()) {
        prop_assert_eq!(decode::artifact(sent(&encode::artifact(&artifact))).unwrap(), artifact);
    }

    #[test]
    fn a_page_of_tasks_comes_back(
        tasks in vec(generate::task(), 0..3), next_page_token in generate::text(), sizes: (u16, u16),
    ) {
        let page = TaskPage { tasks, next_page_token, page_size: sizes.0.into(), total_size: sizes.1.into() };
        prop_assert_eq!(decode::tasks(sent(&encode::tasks(&page))).unwrap(), page);
    }

    #[test]
    fn an_event_comes_back(event in generate::event()) {
        prop_assert_eq!(decode::stream_response(sent(&encode::stream_response(&event))).unwrap(), event);
    }

    #[test]
    fn an_answer_to_a_send_comes_back(task in generate::task(), message in generate::message()) {
        for answer in [Sent::Task(task), Sent::Message(message.into())] {
            prop_assert_eq!(decode::sent(sent(&encode::sent(&answer))).unwrap(), answer);
        }
    }

    #[test]
    fn a_page_of_configurations_comes_back(
        configs in vec(generate::config(), 0..3), next_page_token in generate::text(),
    ) {
        let page = ConfigPage { configs, next_page_token };
        // Compared by what can be shown: a configuration prints no secrets.
        let back = decode::configs(sent(&encode::configs(&page)));
        prop_assert_eq!(serde_json::to_value(&back).unwrap(), serde_json::to_value(&page).unwrap());
    }

    #[test]
    fn an_agent_card_comes_back(card in generate::card::card()) {
        prop_assert_eq!(decode::agent_card(sent(&encode::agent_card(&card))).unwrap(), card);
    }
}
