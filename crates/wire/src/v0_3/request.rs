//! The requests of gRPC and HTTP+JSON in 0.3, which mean the same in both: what is absent, what is 0, what a name says.
//!
//! Each is made by one of the two readers and becomes a valid request of the domain here. Bad fields have the names of
//! the domain's parameters; [`terms`](super::terms) tells them by those of 0.3.

use gateway_domain::{
    AuthenticationInfo, Error, Message, PushNotificationConfigId, TaskId, TaskPushNotificationConfig,
    Version,
    error::Violation,
    json::Object,
    notation::Int32,
    request::{
        CancelTask, ConfigKey, CreateConfig, GetExtendedAgentCard, GetTask, ListConfigs, OtherwiseCard,
        PageRequest, Scalar, SendMessage, SubscribeToTask, params,
    },
};

use super::names;

/// SendMessage and SendStreamingMessage.
pub(super) struct Send {
    pub(super) tenant: Scalar,
    pub(super) message: Option<Message>,
    pub(super) configuration: Option<Configuration>,
    pub(super) metadata: Option<Object>,
}

/// How to answer a send.
pub(super) struct Configuration {
    pub(super) accepted_output_modes: Vec<String>,
    pub(super) push: Option<TaskPushNotificationConfig>,
    pub(super) history_length: i32,
    pub(super) blocking: bool,
}

impl Send {
    pub(super) fn request(self) -> Result<SendMessage, Error> {
        let params = params::SendMessage {
            tenant: self.tenant,
            message: self.message,
            // Without a configuration a send waits; within one, `blocking` means what it says.
            configuration: self.configuration.map(Configuration::params).unwrap_or_default(),
            metadata: self.metadata,
        };
        let mut request = params.validate()?;
        request.configuration.version = Version::V0_3;
        Ok(request)
    }
}

impl Configuration {
    fn params(self) -> params::SendConfiguration {
        params::SendConfiguration {
            accepted_output_modes: self.accepted_output_modes,
            task_push_notification_config: self.push,
            history_length: Some(self.history_length).filter(|length| *length != 0).map(Int32),
            return_immediately: !self.blocking,
        }
    }
}

pub(super) fn get_task(tenant: Scalar, task: String, history_length: Scalar) -> Result<GetTask, Error> {
    // 0 is as good as absent, and means all of it.
    let all = match &history_length {
        Scalar::Integer(length) => *length == 0,
        Scalar::Query(text) => text.parse() == Ok(0),
        _ => false,
    };
    let params = params::GetTask {
        tenant,
        id: Scalar::from_text(task),
        history_length: if all { Scalar::Absent } else { history_length },
    };
    params.validate()
}

pub(super) fn cancel_task(tenant: Scalar, task: String) -> Result<CancelTask, Error> {
    let params = params::CancelTask {
        tenant,
        id: Scalar::from_text(task),
        metadata: None,
    };
    params.validate()
}

pub(super) fn subscribe(tenant: Scalar, task: String) -> Result<SubscribeToTask, Error> {
    let params = params::SubscribeToTask {
        tenant,
        id: Scalar::from_text(task),
    };
    let mut request = params.validate()?;
    request.version = Version::V0_3;
    Ok(request)
}

/// CreateTaskPushNotificationConfig: the id stands in up to three places, which must agree.
pub(super) struct Create {
    pub(super) tenant: String,
    pub(super) parent: String,
    pub(super) config_id: String,
    pub(super) config: Option<NamedConfig>,
}

/// A configuration under the name of its task.
pub(super) struct NamedConfig {
    pub(super) name: String,
    pub(super) config: Option<TaskPushNotificationConfig>,
}

impl Create {
    pub(super) fn request(self) -> Result<CreateConfig, Error> {
        let mut faults = Vec::new();
        let mut fault = |field: &'static str, description: &'static str| {
            faults.push(Violation {
                field: field.into(),
                description: description.into(),
            });
        };
        let task = names::parent_id(&self.parent);
        if task.is_none() {
            fault("parent", names::A_TASK);
        }
        if self.config_id.is_empty() {
            fault("configId", "is required");
        }
        let named = self.config.as_ref().map_or("", |config| &config.name);
        let agrees = names::config_ids(named)
            .is_none_or(|(of, id)| task.is_none_or(|task| of == task) && id == self.config_id);
        if !named.is_empty() && names::config_ids(named).is_none() {
            fault("config.name", names::A_CONFIG);
        } else if !agrees {
            fault(
                "config.name",
                "must be absent or name the task of parent and the configId",
            );
        }
        let config = self.config.and_then(|named| named.config);
        let inner = config.as_ref().and_then(|config| config.id.as_ref());
        if inner.is_some_and(|inner| inner.as_str() != self.config_id) {
            fault(
                "config.pushNotificationConfig.id",
                "must be absent or the configId",
            );
        }
        if config.is_none() {
            fault("config.pushNotificationConfig", "is required");
        }
        let (Some(mut config), Some(task), true) = (config, task, faults.is_empty()) else {
            return Err(Error::invalid_params(faults));
        };
        config.tenant = gateway_domain::Tenant::optional(self.tenant);
        config.id = Some(PushNotificationConfigId::new(self.config_id));
        config.task_id = Some(TaskId::new(task));
        params::CreateConfig { config }.validate()
    }
}

/// What a client says about itself to a receiver; a record with nothing in it says nothing.
pub(super) fn authentication(
    schemes: Vec<String>,
    credentials: Option<String>,
) -> Option<AuthenticationInfo> {
    let says_nothing = schemes.is_empty() && credentials.is_none();
    (!says_nothing).then(|| AuthenticationInfo::of_schemes(schemes, credentials))
}

pub(super) fn config_key(tenant: Scalar, task: String, config: String) -> Result<ConfigKey, Error> {
    let params = params::ConfigKey {
        tenant,
        task_id: Scalar::from_text(task),
        id: Scalar::from_text(config),
    };
    params.validate()
}

pub(super) fn list_configs(
    tenant: Scalar,
    task: String,
    page_size: Scalar,
    page_token: Scalar,
) -> Result<ListConfigs, Error> {
    let params = params::ListConfigs {
        tenant,
        task_id: Scalar::from_text(task),
        page_size,
        page_token,
    };
    let mut request = params.validate()?;
    request.version = Version::V0_3;
    if request.page.page_size.is_none() {
        // All of them, also from a token on.
        request.page.page_size = PageRequest::everything().page_size;
    }
    Ok(request)
}

pub(super) fn get_card(tenant: Scalar) -> Result<GetExtendedAgentCard, Error> {
    let mut request = params::GetExtendedAgentCard { tenant }.validate()?;
    request.otherwise = OtherwiseCard::PublicCard;
    Ok(request)
}
