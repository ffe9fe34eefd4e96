//! Delivery to webhooks as the settings say, and what the metrics read of it.

use std::sync::Arc;

use gateway_config::typed;
use gateway_domain::{ports::Store, work::Keeper};
use gateway_push::{Courier, Resolver, Retries, Settings};
use gateway_telemetry::{Metrics, list};

/// What delivers.
pub(crate) fn courier(
    settings: &typed::Push,
    store: Arc<dyn Store>,
    keeper: Option<Keeper>,
    resolver: Arc<dyn Resolver>,
    metrics: &Metrics,
) -> Courier {
    let courier = Courier::new(store, keeper, resolver, bounds(settings));
    watch(metrics, &courier);
    courier
}

fn watch(metrics: &Metrics, courier: &Courier) {
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let own = courier.clone();
    metrics.watch(&list::WEBHOOK_CALLS, move || own.counts().attempts());
    let own = courier.clone();
    metrics.watch(&list::WEBHOOK_DEAD_LETTERS, move || own.counts().dead_letters());
    let own = courier.clone();
    metrics.watch(&list::WEBHOOK_GAPS, move || vec![("", own.counts().gaps())]);
    let own = courier.clone();
    metrics.watch(&list::WEBHOOKS, move || vec![("", number(own.followers()))]);
    let own = courier.clone();
    metrics.watch(&list::WEBHOOKS_RETRYING, move || {
        vec![("", number(own.retrying()))]
    });
}

fn bounds(settings: &typed::Push) -> Settings {
    Settings {
        guard: settings.guard,
        allowed_ranges: settings.allowed_ranges.iter().map(|range| range.0).collect(),
        followers: settings.most,
        timeout: settings.timeout.0,
        retries: Retries {
            first_pause: settings.first_pause.0,
            longest_pause: settings.longest_pause.0,
            attempts: settings.attempts,
            patience: settings.patience.0,
        },
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_defaults_of_the_settings_are_those_of_the_part() {
        let typed = gateway_config::Typed::default();
        assert_eq!(super::bounds(&typed.push), gateway_push::Settings::default());
    }
}
