//! The scripts, each one round trip in one bucket. They go by hash, and are loaded by the first who finds them missing;
//! so releases with different scripts live side by side.

use std::sync::LazyLock;

use redis::Script;

use crate::keys;

/// What every script begins with.
const PRELUDE: &str = include_str!("scripts/prelude.lua");

macro_rules! scripts {
    ($($name:ident = $file:literal)*) => {
        $(pub(crate) static $name: LazyLock<Script> =
            LazyLock::new(|| Script::new(&whole(include_str!(concat!("scripts/", $file)))));)*
        #[cfg(test)]
        const ALL: &[&str] = &[PRELUDE, $(include_str!(concat!("scripts/", $file))),*];
    };
}

scripts! {
    CREATE = "create.lua"
    COMMIT = "commit.lua"
    DISCARD = "discard.lua"
    READ = "read.lua"
    LOG = "log.lua"
    STAND = "stand.lua"
    LIST = "list.lua"
    PLACES = "places.lua"
    PUT_CONFIG = "put_config.lua"
    DELETE_CONFIG = "delete_config.lua"
    PURGE = "purge.lua"
    SWEEP = "sweep.lua"
    TAKE_DUE = "take_due.lua"
    RENEW = "renew.lua"
    GIVE_BACK = "give_back.lua"
    SETTLE = "settle.lua"
    ASK = "ask.lua"
    ASKS = "asks.lua"
    ANSWER = "answer.lua"
    DELIVER = "deliver.lua"
    FIRST_SEND = "first_send.lua"
    FORGET_SEND = "forget_send.lua"
}

fn whole(script: &str) -> String {
    // Lua counts from 1.
    let place_id = keys::PLACE_ID + 1;
    format!("local PLACE_ID = {place_id}\n{PRELUDE}{script}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::ALL;
    use crate::keys::{self, KINDS};

    #[test]
    fn scripts_name_the_keys_of_the_table_and_no_others() {
        let in_scripts: BTreeSet<&str> = ALL
            .iter()
            .flat_map(|script| script.split("key('").skip(1))
            .filter_map(|rest| rest.split('\'').next())
            .collect();
        let in_table = KINDS.iter().map(|kind| kind.name);
        // That one is written beside the scripts, behind what they wrote.
        let in_table: BTreeSet<&str> = in_table.filter(|name| *name != keys::FENCE).collect();
        assert_eq!(in_scripts, in_table);
    }
}
