//! Every decoder against hostile input. `FUZZ_INPUTS` says how much of it.

use gateway_fuzz::{fuzz, targets};

#[test]
fn any_json_rpc_body_is_answered_with_one_response_object() {
    fuzz(&targets::JSONRPC);
}

#[test]
fn any_http_json_request_is_answered_in_form() {
    fuzz(&targets::REST);
}

#[test]
fn any_grpc_body_is_answered_with_a_status() {
    fuzz(&targets::GRPC);
}

#[test]
fn any_json_that_is_read_as_a_message_reads_back_the_same() {
    fuzz(&targets::MESSAGE);
}

#[test]
fn any_bytes_that_are_read_as_a_message_read_back_the_same() {
    fuzz(&targets::PROTOBUF);
}

#[test]
fn any_text_is_a_cursor_or_none_and_no_page_token() {
    fuzz(&targets::CURSOR);
}
