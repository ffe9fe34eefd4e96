//! The error table: the numbers and names of each meaning on each binding (§5.4), and the details that go with it.
//!
//! How a binding wraps them is the binding's.

use gateway_domain::{
    Error,
    ErrorKind::{
        self, ContentTypeNotSupported, ContextMismatch, ContextNotAccepted, DeadlineExceeded,
        ExtendedAgentCardNotConfigured, ExtensionSupportRequired, HeadersTooLarge, Internal,
        InvalidAgentResponse, InvalidParams, InvalidRequest, MethodNotAllowed, MethodNotFound, ParseError,
        PayloadTooLarge, PermissionDenied, PushNotificationNotSupported, ResourceExhausted,
        TaskNotCancelable, TaskNotFound, TaskStateConflict, TenantNotServed, Unauthenticated, Unavailable,
        UnsupportedMediaType, UnsupportedOperation, VersionNotSupported,
    },
};

pub use detail::{DOMAIN, Detail, details};

mod detail;

/// How one meaning is told on the wire.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The meaning.
    pub kind: ErrorKind,
    /// The JSON-RPC error code (§9.5).
    pub jsonrpc: i32,
    /// The gRPC status (§10.6); also `status` of an HTTP+JSON body.
    pub grpc: GrpcStatus,
    /// The HTTP status of HTTP+JSON (§11.6).
    pub http: u16,
    /// The HTTP status under which a JSON-RPC answer with this error travels.
    pub jsonrpc_http: u16,
    /// `google.rpc.ErrorInfo.reason`; without one there is no ErrorInfo.
    pub reason: Option<&'static str>,
    /// The field that is at fault whenever this meaning is, where the error itself names none.
    pub field: Option<&'static str>,
}

/// The gRPC status codes in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are gRPC's")]
pub enum GrpcStatus {
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    Unauthenticated = 16,
}

/// Every meaning once.
pub const TABLE: [Row; 27] = [
    told(TaskNotFound, -32001, GrpcStatus::NotFound, 404).because("TASK_NOT_FOUND"),
    told(TaskNotCancelable, -32002, GrpcStatus::FailedPrecondition, 400).because("TASK_NOT_CANCELABLE"),
    told(
        PushNotificationNotSupported,
        -32003,
        GrpcStatus::FailedPrecondition,
        400,
    )
    .because("PUSH_NOTIFICATION_NOT_SUPPORTED"),
    told(UnsupportedOperation, -32004, GrpcStatus::FailedPrecondition, 400).because("UNSUPPORTED_OPERATION"),
    told(ContentTypeNotSupported, -32005, GrpcStatus::InvalidArgument, 400)
        .because("CONTENT_TYPE_NOT_SUPPORTED"),
    told(InvalidAgentResponse, -32006, GrpcStatus::Internal, 500).because("INVALID_AGENT_RESPONSE"),
    told(
        ExtendedAgentCardNotConfigured,
        -32007,
        GrpcStatus::FailedPrecondition,
        400,
    )
    .because("EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
    told(
        ExtensionSupportRequired,
        -32008,
        GrpcStatus::FailedPrecondition,
        400,
    )
    .because("EXTENSION_SUPPORT_REQUIRED"),
    told(VersionNotSupported, -32009, GrpcStatus::FailedPrecondition, 400).because("VERSION_NOT_SUPPORTED"),
    told(ContextMismatch, -32602, GrpcStatus::InvalidArgument, 400).at("message.contextId"),
    told(ContextNotAccepted, -32602, GrpcStatus::InvalidArgument, 400).at("message.contextId"),
    told(InvalidParams, -32602, GrpcStatus::InvalidArgument, 400),
    told(ParseError, -32700, GrpcStatus::InvalidArgument, 400),
    told(InvalidRequest, -32600, GrpcStatus::InvalidArgument, 400),
    told(MethodNotFound, -32601, GrpcStatus::Unimplemented, 404),
    told(Internal, -32603, GrpcStatus::Internal, 500),
    told(ResourceExhausted, -32029, GrpcStatus::ResourceExhausted, 429)
        .on_http()
        .because("RESOURCE_EXHAUSTED"),
    told(TaskStateConflict, -32040, GrpcStatus::FailedPrecondition, 409).because("TASK_STATE_CONFLICT"),
    told(Unauthenticated, -32031, GrpcStatus::Unauthenticated, 401)
        .on_http()
        .because("UNAUTHENTICATED"),
    told(PermissionDenied, -32033, GrpcStatus::PermissionDenied, 403)
        .on_http()
        .because("PERMISSION_DENIED"),
    told(Unavailable, -32053, GrpcStatus::Unavailable, 503)
        .on_http()
        .because("UNAVAILABLE"),
    told(DeadlineExceeded, -32054, GrpcStatus::DeadlineExceeded, 504)
        .on_http()
        .because("DEADLINE_EXCEEDED"),
    told(MethodNotAllowed, -32601, GrpcStatus::Unimplemented, 405).on_http(),
    told(PayloadTooLarge, -32600, GrpcStatus::ResourceExhausted, 413).on_http(),
    told(UnsupportedMediaType, -32005, GrpcStatus::InvalidArgument, 415)
        .on_http()
        .because("CONTENT_TYPE_NOT_SUPPORTED"),
    told(HeadersTooLarge, -32600, GrpcStatus::ResourceExhausted, 431).on_http(),
    told(TenantNotServed, -32602, GrpcStatus::NotFound, 404).at("tenant"),
];

/// Which release of the specification the numbers are taken from; those of JSON-RPC differ in 0.3 only, reasons and
/// fields are the same in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Edition {
    /// [`TABLE`].
    #[default]
    V1_0_1,
    /// [`TABLE`], but for [`OTHERWISE_IN_1_0_0`].
    V1_0_0,
    /// [`TABLE`], but for [`OTHERWISE_IN_0_3`]: what callers of that version are told, JSON-RPC included.
    V0_3,
}

/// The rows that 1.0.0 had otherwise.
pub const OTHERWISE_IN_1_0_0: [Row; 6] = [
    otherwise(TaskNotCancelable, GrpcStatus::FailedPrecondition, 409),
    otherwise(PushNotificationNotSupported, GrpcStatus::Unimplemented, 400),
    otherwise(UnsupportedOperation, GrpcStatus::Unimplemented, 400),
    otherwise(ContentTypeNotSupported, GrpcStatus::InvalidArgument, 415),
    otherwise(InvalidAgentResponse, GrpcStatus::Internal, 502),
    otherwise(VersionNotSupported, GrpcStatus::Unimplemented, 400),
];

/// The rows that 0.3 has otherwise: it knows no error for an extension that was not declared.
pub const OTHERWISE_IN_0_3: [Row; 1] =
    [
        told(ExtensionSupportRequired, -32600, GrpcStatus::InvalidArgument, 400)
            .because("EXTENSION_SUPPORT_REQUIRED"),
    ];

impl Edition {
    /// How this edition tells an error.
    pub fn row_of(self, error: &Error) -> &'static Row {
        let otherwise: &'static [Row] = match self {
            Self::V1_0_1 => &[],
            Self::V1_0_0 => &OTHERWISE_IN_1_0_0,
            Self::V0_3 => &OTHERWISE_IN_0_3,
        };
        let found = otherwise.iter().find(|row| row.kind == error.kind());
        found.unwrap_or_else(|| row_of(error))
    }
}

/// How a meaning is told.
pub fn row(kind: ErrorKind) -> &'static Row {
    // `TABLE` names each meaning at its own place, which a test holds.
    const ROWS: &[Row] = &TABLE;
    &ROWS[kind as usize]
}

/// How an error is told.
pub fn row_of(error: &Error) -> &'static Row {
    row(error.kind())
}

impl GrpcStatus {
    /// The number.
    pub fn code(self) -> i32 {
        self as i32
    }

    /// The name, as `google.rpc.Code` writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::NotFound => "NOT_FOUND",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::Unimplemented => "UNIMPLEMENTED",
            Self::Internal => "INTERNAL",
            Self::Unavailable => "UNAVAILABLE",
            Self::Unauthenticated => "UNAUTHENTICATED",
        }
    }
}

/// The usual way: no details, and JSON-RPC answers with HTTP 200.
const fn told(kind: ErrorKind, jsonrpc: i32, grpc: GrpcStatus, http: u16) -> Row {
    Row {
        kind,
        jsonrpc,
        grpc,
        http,
        jsonrpc_http: 200,
        reason: None,
        field: None,
    }
}

/// A row of the table with other statuses.
const fn otherwise(kind: ErrorKind, grpc: GrpcStatus, http: u16) -> Row {
    let mut row = TABLE[kind as usize];
    row.grpc = grpc;
    row.http = http;
    row
}

impl Row {
    const fn because(mut self, reason: &'static str) -> Self {
        self.reason = Some(reason);
        self
    }

    const fn at(mut self, field: &'static str) -> Self {
        self.field = Some(field);
        self
    }

    /// JSON-RPC uses the HTTP status as well: proxies and clients act on it without reading bodies.
    const fn on_http(mut self) -> Self {
        self.jsonrpc_http = self.http;
        self
    }
}

#[cfg(test)]
mod tests {
    use gateway_domain::ErrorKind;

    use super::{TABLE, row};

    #[test]
    fn every_meaning_stands_once_and_at_its_own_place() {
        assert!(ErrorKind::ALL.into_iter().eq(TABLE.iter().map(|row| row.kind)));
        for kind in ErrorKind::ALL {
            assert_eq!(row(kind).kind, kind);
        }
    }
}
