//! The settings from outside: what a file and the environment may say, what is refused, and with which words.

use gateway_config::{Faults, Outside, Settings, read, typed::ErrorTable};
use gateway_domain::{AgentCard, Binding, Limits, Version, directory::MediaTypes};

const OUTSIDE: Outside<'static> = Outside {
    reserved: &["tasks", "rpc"],
    check_level: |level| match level {
        "loud" => Err("must be quieter".into()),
        _ => Ok(()),
    },
};

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    pairs.iter().map(owned).collect()
}

fn settings(file: &str, environment: &[(&str, &str)]) -> Result<Settings, Faults> {
    read(Some(("gw.toml", file)), variables(environment), &OUTSIDE)
}

fn refusal(file: &str, environment: &[(&str, &str)]) -> String {
    settings(file, environment).expect_err(file).to_string()
}

#[test]
fn nothing_given_means_the_defaults() {
    let settings = read(None, Vec::new(), &OUTSIDE).unwrap();
    assert_eq!(settings.limits, Limits::default());
    assert_eq!(settings.media_types, MediaTypes::OfCard);
    assert_eq!(settings.tenants, None);
    assert_eq!(settings.page_key, None);
    let client = settings.listeners.serving(Binding::Grpc).unwrap();
    assert_eq!(client.address.to_string(), "127.0.0.1:8080");
    assert_eq!(client.assumed_version, Version::V0_3);
    assert_eq!(client.versions, [Version::V1_0, Version::V0_3]);
    assert_eq!(settings.listeners.agent.unwrap().to_string(), "127.0.0.1:8081");
    assert_eq!(settings.listeners.admin.unwrap().to_string(), "127.0.0.1:9090");
}

#[test]
fn a_file_changes_what_it_names_and_leaves_the_rest() {
    let file = r#"
        tenants = { names = ["acme"] }
        [agent]
        media_types = ["text/*"]
        [limits]
        history_messages = 7
        stored_bytes_per_task = "2 MiB"
        blocking_wait = "10 min"
        [listeners.grpc]
        address = "127.0.0.1:7000"
        assumed_version = "1.0"
        [card]
        name = "Mine"
        provider = { organization = "Example", url = "https://example.com" }
        [[card.extensions]]
        uri = "urn:x"
        required = true
        params = { any = { thing = 1 } }
    "#;
    let settings = settings(file, &[]).unwrap();
    let limits = Limits {
        history_messages: 7,
        stored_bytes_per_task: 2 << 20,
        blocking_wait: Some(std::time::Duration::from_secs(600)),
        ..Limits::default()
    };
    assert_eq!(settings.limits, limits);
    assert_eq!(settings.tenants.unwrap()[0].as_str(), "acme");
    assert_eq!(settings.media_types, MediaTypes::Only(vec!["text/*".into()]));
    let grpc = settings.listeners.serving(Binding::Grpc).unwrap();
    assert_eq!((grpc.address.port(), grpc.assumed_version), (7000, Version::V1_0));
    assert_eq!(
        settings
            .listeners
            .serving(Binding::JsonRpc)
            .unwrap()
            .address
            .port(),
        8080
    );
    let own = AgentCard {
        name: "Its own".into(),
        default_output_modes: vec!["text/plain".into()],
        ..AgentCard::default()
    };
    let card = settings.card.over(own);
    assert_eq!(card.name, "Mine");
    assert!(card.required_extensions().eq(["urn:x"]));
    assert_eq!(card.default_output_modes, ["text/plain"]);
}

#[test]
fn an_extended_card_is_declared_and_is_the_card_with_more() {
    let plain = settings("", &[]).unwrap().card;
    assert!(plain.extended(&AgentCard::default()).is_none());
    let declared =
        |card: &gateway_config::Card| card.over(AgentCard::default()).capabilities.extended_agent_card;
    assert_eq!(declared(&plain), None);

    let file = r#"
        [card]
        description = "Short"
        skills = [{ id = "a", name = "A", description = "does a" }]
        [card.extended]
        description = "Long"
        skills = [{ id = "b", name = "B", description = "does b" }]
    "#;
    let card = settings(file, &[]).unwrap().card;
    assert_eq!(declared(&card), Some(true));
    let public = card.over(AgentCard::default());
    let extended = card.extended(&public).unwrap();
    assert!(!extended.open);
    assert_eq!(
        (&*public.description, &*extended.card.description),
        ("Short", "Long")
    );
    let ids = |card: &AgentCard| {
        card.skills
            .iter()
            .map(|skill| skill.id.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (ids(&public), ids(&extended.card)),
        (vec!["a".into()], vec!["a".into(), "b".into()])
    );
    let open = settings("[card.extended]\nopen = true", &[]).unwrap().card;
    assert!(open.is_extended_open() && open.extended(&public).unwrap().open);
}

#[test]
fn the_old_error_table_is_for_the_conformance_agent() {
    let file = "[agent]\nkind = \"conformance\"\n[wire]\nerror_table = \"1.0.0\"";
    assert_eq!(settings(file, &[]).unwrap().error_table, ErrorTable::V1_0_0);
    assert_eq!(settings("", &[]).unwrap().error_table, ErrorTable::V1_0_1);
}

#[test]
fn the_environment_stands_above_the_file_and_is_read_as_what_the_setting_is() {
    let file = "[limits]\nhistory_messages = 7\nparts_per_message = 8\n[card]\nversion = \"1\"";
    let environment = [
        ("A2A_GATEWAY__LIMITS__HISTORY_MESSAGES", "9"),
        ("A2A_GATEWAY__CARD__VERSION", "2.0"),
        ("A2A_GATEWAY__CARD__STREAMING", "false"),
        ("A2A_GATEWAY__CARD__INPUT_MODES", "text/plain, image/png"),
        (
            "A2A_GATEWAY__CARD__SKILLS",
            r#"[{ id = "a", name = "A", description = "does a" }]"#,
        ),
        ("A2A_GATEWAY__AGENT__MEDIA_TYPES", "any"),
        ("A2A_GATEWAY__PUSH__ALLOWED_RANGES", "10.0.0.0/8, fd00::/8"),
        ("A2A_GATEWAY__TENANTS__NAMES", r#"["a,b", "c"]"#),
        ("A2A_GATEWAY_CONFIG", "not a setting"),
        ("PATH", "/bin"),
    ];
    let settings = settings(file, &environment).unwrap();
    assert_eq!(settings.limits.history_messages, 9);
    assert_eq!(settings.limits.parts_per_message, 8);
    let card = settings.card.over(AgentCard::default());
    assert_eq!(card.version, "2.0");
    assert_eq!(card.capabilities.streaming, Some(false));
    assert_eq!(card.default_input_modes, ["text/plain", "image/png"]);
    assert_eq!(card.skills[0].name, "A");
    assert_eq!(settings.media_types, MediaTypes::Any);
    let ranges: Vec<_> = settings
        .push
        .allowed_ranges
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(ranges, ["10.0.0.0/8", "fd00::/8"]);
    let tenants = settings.tenants.unwrap();
    assert!(tenants.iter().map(|tenant| tenant.as_str()).eq(["a,b", "c"]));
}

#[test]
fn what_is_wrong_is_told_with_its_place_and_what_to_write() {
    for (file, expected) in [
        (
            "[limits]\nparts_per_massage = 1",
            "gw.toml:2: limits.parts_per_massage is no setting; did you mean limits.parts_per_message?",
        ),
        ("[limts]", "gw.toml:1: limts is no setting; did you mean limits?"),
        (
            "history_messages = 1",
            "gw.toml:1: history_messages is no setting; did you mean limits.history_messages?",
        ),
        (
            "[secrets]\nunheard = 1",
            "gw.toml:2: secrets.unheard is no setting; those here are page_key, page_key_file, redis_password, redis_password_file, redis_sentinel_password, redis_sentinel_password_file",
        ),
        (
            "[card]\n[[card.skills]]\nid = \"a\"\nname = \"A\"\ndescription = \"\"\ntag = []",
            "gw.toml:6: card.skills[0].tag is no setting; did you mean card.skills[0].tags?",
        ),
        (
            "[[card.skills]]\nid = \"a\"\nname = \"A\"",
            "gw.toml:1: card.skills[0].description is required",
        ),
        (
            "[card.provider]\nurl = \"https://a.example\"",
            "gw.toml:1: card.provider.organization is required",
        ),
        (
            "[limits]\nparts_per_message = \"many\"",
            "gw.toml:2: limits.parts_per_message must be a whole number, not the text \"many\"",
        ),
        (
            "[limits]\nparts_per_message = 1.5",
            "gw.toml:2: limits.parts_per_message must be a whole number, not the fraction 1.5",
        ),
        (
            "[card]\nstreaming = \"yes\"",
            "gw.toml:2: card.streaming must be true or false, not the text \"yes\"",
        ),
        (
            "[card]\nname = 3",
            "gw.toml:2: card.name must be a text, not the number 3",
        ),
        ("[card]\nname = \" \"", "gw.toml:2: card.name must not be empty"),
        ("card = 3", "gw.toml:1: card must be a table, not the number 3"),
        (
            "[card]\nskills = { }",
            "gw.toml:2: card.skills must be a list, not a table",
        ),
        (
            "[card]\ninput_modes = [\n  \"text/plain\",\n  3,\n]",
            "gw.toml:4: card.input_modes[1] must be a text, not the number 3",
        ),
        (
            "[limits]\nparts_per_message = 0",
            "gw.toml:2: limits.parts_per_message must be 1 to 10000, not 0",
        ),
        (
            "[limits]\nparts_per_message = 10001",
            "gw.toml:2: limits.parts_per_message must be 1 to 10000, not 10001",
        ),
        (
            "[limits]\nparts_per_message = 99999999999999999999",
            "gw.toml:2: limits.parts_per_message must be a whole number, not the text \"99999999999999999999\"",
        ),
        (
            "[limits]\ncancel_wait = \"0 s\"",
            "gw.toml:2: limits.cancel_wait must be 1 ms to 5 min, not 0 s",
        ),
        (
            "[limits]\nblocking_wait = \"48 h\"",
            "gw.toml:2: limits.blocking_wait must be 100 ms to 24 h, not 48 h",
        ),
        (
            "[limits]\ncancel_wait = 3",
            "gw.toml:2: limits.cancel_wait must be a text, not the number 3",
        ),
        (
            "[connections]\nbody = \"1 GiB\"",
            "gw.toml:2: connections.body must be 1 KiB to 64 MiB, not 1 GiB",
        ),
        (
            "[push]\nallowed_ranges = [\"10.0.0.0/8\", \"10.0.0.1\"]",
            "gw.toml:2: push.allowed_ranges[1] must be a range of addresses such as \"10.0.0.0/8\" or \"fd00::/8\", \
             or one address such as \"192.168.1.7/32\", not \"10.0.0.1\"",
        ),
        (
            "[logging]\nlevel = \"loud\"",
            "gw.toml:2: logging.level must be quieter",
        ),
        (
            "[logging]\nformat = \"xml\"",
            "gw.toml:2: logging.format must be \"text\" or \"json\", not \"xml\"",
        ),
        (
            "[agent]\nkind = \"demon\"",
            "gw.toml:2: agent.kind must be \"demo\" or \"conformance\", not \"demon\"",
        ),
        (
            "[wire]\nerror_table = \"1.0.0\"",
            "gw.toml:2: wire.error_table may be \"1.0.0\" only where agent.kind is \"conformance\": leave it out",
        ),
        (
            "[agent]\nmedia_types = \"all\"",
            "gw.toml:2: agent.media_types must be \"any\", \"card\" or a list, not \"all\"",
        ),
        (
            "[agent]\nmedia_types = [\"text\"]",
            "gw.toml:2: agent.media_types[0] must be a media type such as \"text/plain\", not \"text\"",
        ),
        (
            "[listeners.client]\nassumed_version = \"0.2\"",
            "gw.toml:2: listeners.client.assumed_version must be \"0.3\" or \"1.0\", not \"0.2\"",
        ),
        (
            "[listeners.client]\nversions = []",
            "gw.toml:2: listeners.client.versions must name a version at least: nothing would be served",
        ),
        (
            "[listeners.client]\nversions = [\"1.0\", \"1.0\"]",
            "gw.toml:2: listeners.client.versions names a version twice",
        ),
        (
            "[public_urls]\nrest = \"https://a.example/\"",
            "gw.toml:2: public_urls.rest must not end with a slash: paths are appended to it, not \"https://a.example/\"",
        ),
        (
            "[public_urls]\njsonrpc = \"a.example/rpc\"",
            "gw.toml:2: public_urls.jsonrpc must be an address that begins with https:// or http://, without ? and #, not \"a.example/rpc\"",
        ),
        (
            "[listeners.agent]\naddress = \"127.0.0.1:8080\"",
            "gw.toml:2: listeners.agent.address is 127.0.0.1:8080, which listeners.client.address has already",
        ),
        (
            "[tenants]\nnames = [\"a\", \"a\"]",
            "gw.toml:2: tenants.names[1] is \"a\", which stands in the list already",
        ),
        (
            "[tenants]\nnames = [\"tasks\"]",
            "gw.toml:2: tenants.names[0] is \"tasks\", with which paths of the gateway begin; choose another name",
        ),
        (
            "[tenants]\nnames = [\"\"]",
            "gw.toml:2: tenants.names[0] is required",
        ),
        (
            "[secrets]\npage_key_file = \"/there/is/none\"",
            "gw.toml:2: secrets.page_key_file cannot be read: /there/is/none: No such file or directory (os error 2)",
        ),
        (
            "[store.redis]\nurl = \"amqp://host\"",
            "gw.toml:2: store.redis.url must begin with redis://, rediss:// or redis+unix://",
        ),
        (
            "[store.redis]\nurl = \"rediss://host#insecure\"",
            "gw.toml:2: store.redis.url must not hold ? or #: what they would say is a setting of its own, see store.redis.tls",
        ),
        (
            "[store.redis]\nurl = \"redis://a,b\"",
            "gw.toml:2: store.redis.url names several servers: set store.redis.mode to \"sentinel\" or \"cluster\", or name one",
        ),
        (
            "[store.redis]\nmode = \"cluster\"\nurl = \"redis://a,b/3\"",
            "gw.toml:3: store.redis.url names a database, and a Redis Cluster has only database 0: leave it out",
        ),
        (
            "[store.redis]\nmode = \"sentinel\"\nurl = \"redis+unix:///a\"",
            "gw.toml:3: store.redis.url names the socket of one server: set store.redis.mode to \"standalone\"",
        ),
        (
            "[store.redis]\nsentinel_user = \"a\"",
            "gw.toml:2: store.redis.sentinel_user is for store.redis.mode \"sentinel\" only: leave it out",
        ),
        (
            "[store.redis]\nurl = \"redis://a\"\ntls.ca_file = \"a.pem\"",
            "gw.toml:2: store.redis.url must begin with rediss:// where store.redis.tls is set",
        ),
        (
            "[store.redis]\nurl = \"rediss://a\"\ntls.key_file = \"a.pem\"",
            "gw.toml:3: store.redis.tls.key_file needs store.redis.tls.certificate_file beside it",
        ),
        (
            "[store.redis]\nurl = \"rediss://a\"\ntls.ca_file = \"a.pem\"\ntls.accept_any_certificate = true",
            "gw.toml:4: store.redis.tls.accept_any_certificate makes store.redis.tls.ca_file useless: leave one of them out",
        ),
        (
            "[store.redis]\nurl = \"redis://user:sesame@host\"",
            "gw.toml:2: store.redis.url must not hold a user or a password: set store.redis.user and secrets.redis_password",
        ),
        (
            "[store.redis]\nprefix = \"a:b\"",
            "gw.toml:2: store.redis.prefix must hold only letters, digits, -, _ and .",
        ),
        (
            "[[store.redis.spread]]\ntenant = \"a\\tb\"\nparts = 2",
            "gw.toml:2: store.redis.spread[0].tenant must not contain control characters",
        ),
        (
            "[[store.redis.spread]]\nparts = 1",
            "gw.toml:2: store.redis.spread[0].parts must be 2 to 256, not 1",
        ),
        (
            "[store.redis]\nbuckets = 4\n[[store.redis.spread]]\nparts = 5",
            "gw.toml:4: store.redis.spread[0].parts must be 4 or less, by store.redis.buckets, not 5",
        ),
        (
            "[limits]\nlive_tasks_per_tenant = 7\n[[store.redis.spread]]\nparts = 8",
            "gw.toml:4: store.redis.spread[0].parts must be 7 or less, by limits.live_tasks_per_tenant, not 8",
        ),
        (
            "[[store.redis.spread]]\ntenant = \"a\"\nparts = 2\n[[store.redis.spread]]\ntenant = \"a\"\nparts = 3",
            "gw.toml:5: store.redis.spread[1].tenant is spread in the list already",
        ),
        (
            "[store.redis]\nbuckets = 257",
            "gw.toml:2: store.redis.buckets must be 1 to 256, not 257",
        ),
        ("a = [\nb", "gw.toml:2: this is not TOML: "),
    ] {
        let said = refusal(file, &[]);
        assert!(
            said.starts_with(expected),
            "{file:?}\n  says   {said}\n  not    {expected}"
        );
        assert!(!said.contains('\n'), "{file:?} says more than one thing: {said}");
    }
}

#[test]
fn a_variable_is_named_where_it_is_wrong() {
    for (name, value, expected) in [
        (
            "A2A_GATEWAY__LIMITS__CANCEL_WAIT",
            "soon",
            "A2A_GATEWAY__LIMITS__CANCEL_WAIT: limits.cancel_wait must be a time",
        ),
        (
            "A2A_GATEWAY__LIMITS__HISTORY_MESAGES",
            "5",
            "A2A_GATEWAY__LIMITS__HISTORY_MESAGES: limits.history_mesages is no setting; did you mean limits.history_messages?",
        ),
        (
            "A2A_GATEWAY__CARD",
            "x",
            "A2A_GATEWAY__CARD: card must be a table, not the text \"x\"",
        ),
        (
            "A2A_GATEWAY__CARD__SKILLS__0__ID",
            "x",
            "A2A_GATEWAY__CARD__SKILLS__0__ID: card.skills must be a list, not a table",
        ),
        (
            "A2A_GATEWAY__LIMITS__PARTS_PER_MESSAGE",
            "0",
            "A2A_GATEWAY__LIMITS__PARTS_PER_MESSAGE: limits.parts_per_message must be 1 to 10000, not 0",
        ),
        (
            "A2A_GATEWAY__TENANTS__NAMES",
            "a,rpc",
            "A2A_GATEWAY__TENANTS__NAMES: tenants.names[1] is \"rpc\"",
        ),
    ] {
        let said = refusal("[limits]\ncancel_wait = \"5 s\"", &[(name, value)]);
        assert!(said.starts_with(expected), "{name}={value} says {said}");
    }
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let said = refusal(
        "nonsense = 1\n[limits]\nparts_per_message = 0\n[card]\nname = 1",
        &[],
    );
    assert_eq!(said.lines().count(), 3, "{said}");
}

#[test]
fn a_listener_on_every_interface_needs_public_addresses() {
    let file = "[listeners.client]\naddress = \"0.0.0.0:8080\"";
    let said = refusal(file, &[]);
    for key in ["public_urls.jsonrpc", "public_urls.rest", "public_urls.grpc"] {
        assert!(said.contains(&format!("{key} must be given")), "{said}");
    }
    let urls = "[public_urls]\njsonrpc = \"https://a.example/rpc\"\nrest = \"https://a.example\"\n\
                grpc = \"a.example:443\"\n";
    let settings = settings(&format!("{urls}{file}"), &[]).unwrap();
    assert_eq!(settings.public_urls.of(Binding::Grpc), Some("a.example:443"));
}

#[test]
fn a_binding_that_no_listener_serves_has_no_public_address() {
    let off = "[listeners.client]\naddress = \"off\"\n[listeners.grpc]\naddress = \"127.0.0.1:1\"\n";
    let settings = settings(off, &[]).unwrap();
    assert!(settings.listeners.serving(Binding::Grpc).is_some());
    assert!(settings.listeners.serving(Binding::HttpJson).is_none());
    let said = refusal(&format!("{off}[public_urls]\nrest = \"https://a.example\""), &[]);
    assert!(
        said.contains("public_urls.rest is given, but no listener serves that binding"),
        "{said}"
    );
    let said = refusal("[listeners.client]\naddress = \"off\"", &[]);
    assert!(said.contains("nobody could call"), "{said}");
}

#[test]
fn a_secret_is_read_from_a_file_and_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    std::fs::write(&file, "open-sesame-open-sesame\n").unwrap();
    let name = file.display().to_string();
    let from_file = settings("", &[("A2A_GATEWAY__SECRETS__PAGE_KEY_FILE", &name)]).unwrap();
    assert_eq!(
        from_file.page_key.as_ref().unwrap().expose(),
        b"open-sesame-open-sesame"
    );
    assert!(!format!("{from_file:?}").contains("sesame"));
    let password = [("A2A_GATEWAY__SECRETS__REDIS_PASSWORD_FILE", name.as_str())];
    let with_password = settings("", &password).unwrap();
    assert_eq!(with_password.redis_password, from_file.page_key);
    assert!(!format!("{with_password:?}").contains("sesame"));

    for (file, environment) in [
        ("[secrets]\npage_key = \"sesame\"", &[][..]),
        (
            "[secrets]\npage_key = \"sesame\"",
            &[("A2A_GATEWAY__SECRETS__PAGE_KEY_FILE", name.as_str())][..],
        ),
        ("[secrets]\npage_key = [\"sesame\"]", &[][..]),
        ("[secrets.page_key]\nsesame = 1", &[][..]),
    ] {
        let said = refusal(file, environment);
        assert!(said.contains("secrets.page_key"), "{said}");
        assert!(!said.contains("sesame"), "{said}");
    }
}
