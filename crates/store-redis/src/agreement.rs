//! What all replicas of a deployment have to see alike. Whoever comes first says it, and the others agree or don't start.

use std::{collections::HashMap, sync::atomic::Ordering::Relaxed};

use gateway_domain::ports::StoreError;

use crate::{Inner, keys::tenant_part, link::Slot};

/// What the names of spread tenants begin with.
const SPREAD: &str = "spread:";

impl Inner {
    /// Makes sure that all replicas lay keys out in the same way.
    pub(crate) async fn agree_on_layout(&self) -> Result<(), StoreError> {
        self.agree_on_buckets().await?;
        self.agree_on_spread().await
    }

    async fn agree_on_buckets(&self) -> Result<(), StoreError> {
        let own = self.layout.buckets.to_string();
        let agreed = self.agree("buckets", own.as_bytes()).await?;
        if agreed == own.as_bytes() {
            return Ok(());
        }
        let agreed = String::from_utf8_lossy(&agreed);
        Err(StoreError::new(format_args!(
            "this deployment was made with {agreed} buckets and cannot be read with {own}: set store.redis.buckets to \
             {agreed}, or choose another store.redis.prefix"
        )))
    }

    /// A tenant may be spread later than the deployment is made, but never otherwise than it once was.
    async fn agree_on_spread(&self) -> Result<(), StoreError> {
        // Before anything is proposed: what a replica proposes that is refused then would bind the others.
        self.spread_fault().await?.map_or(Ok(()), Err)?;
        for (tenant, parts) in self.own_spread() {
            self.agree(&format!("{SPREAD}{tenant}"), parts.as_bytes()).await?;
        }
        self.spread_fault().await?.map_or(Ok(()), Err)
    }

    /// Looks whether others have spread a tenant since this replica started, which then overlooks tasks.
    pub(crate) async fn look_at_spread(&self) -> Result<(), StoreError> {
        let fault = self.spread_fault().await?;
        let known = self.spread_otherwise.swap(fault.is_some(), Relaxed);
        if let (Some(StoreError { cause }), false) = (fault, known) {
            tracing::error!(
                cause,
                "a tenant was spread while this replica ran; it is not ready until it is restarted"
            );
        }
        Ok(())
    }

    /// What is wrong with this replica's spread of tenants by that of the deployment.
    async fn spread_fault(&self) -> Result<Option<StoreError>, StoreError> {
        let key = self.layout.deployment();
        let mut command = redis::cmd("HGETALL");
        command.arg(&key);
        let agreed: HashMap<String, Vec<u8>> = self.link.ask(Slot::of(&key), &command).await?;
        let own = self.own_spread();
        let faults = agreed.iter().filter_map(|(name, parts)| {
            let tenant = name.strip_prefix(SPREAD)?;
            let own = own.get(tenant).map_or("1", String::as_str);
            let parts = String::from_utf8_lossy(parts);
            (own != parts).then(|| spread_otherwise(tenant, &parts, own))
        });
        Ok(faults.last())
    }

    /// Tenants, as they stand in keys, and over how many buckets they are spread here.
    fn own_spread(&self) -> HashMap<String, String> {
        let own = self.layout.spread.iter();
        own.map(|(tenant, parts)| (tenant_part(tenant.as_ref()), parts.to_string()))
            .collect()
    }

    pub(crate) async fn agree(&self, name: &str, value: &[u8]) -> Result<Vec<u8>, StoreError> {
        let key = self.layout.deployment();
        let slot = Slot::of(&key);
        let mut propose = redis::cmd("HSETNX");
        propose.arg(&key).arg(name).arg(value);
        let _came_first: bool = self.link.ask(slot, &propose).await?;
        let mut read = redis::cmd("HGET");
        read.arg(&key).arg(name);
        self.link.ask(slot, &read).await
    }
}

/// Of a tenant as it stands in keys.
fn spread_otherwise(tenant: &str, agreed: &str, own: &str) -> StoreError {
    let whose = match tenant.split_once('=') {
        Some((_, name)) => format!("tenant {name:?}"),
        None => "callers without a tenant".to_owned(),
    };
    StoreError::new(format_args!(
        "the tasks of {whose} are spread over {agreed} buckets in this deployment, and could not all be found in {own}: \
         set parts to {agreed} for them in store.redis.spread, or choose another store.redis.prefix"
    ))
}
