//! Taking tasks away for good, bucket by bucket, a bounded number at a time.

use gateway_domain::{
    TaskId,
    ports::{Purge, PurgeStep, StoreError},
};

use crate::{
    Inner,
    keys::{Bucket, context_part, tenant_part},
    scripts,
};

impl Inner {
    pub(crate) async fn purge(
        &self,
        what: &Purge,
        after: Option<TaskId>,
        most: usize,
    ) -> Result<PurgeStep, StoreError> {
        let buckets = self.buckets_of_purge(what);
        let begun = after.as_ref().and_then(|after| self.layout.bucket(after));
        let Some(at) = begun.or_else(|| buckets.first().copied()) else {
            return Ok(PurgeStep::default());
        };
        let (removed, live, last) = self.purge_in(at, what, after.as_ref(), most).await?;
        let next = if last.is_empty() {
            let place = buckets.iter().position(|bucket| *bucket == at);
            let next = place.and_then(|place| buckets.get(place + 1));
            next.map(|bucket| self.layout.beginning(*bucket))
        } else {
            Some(TaskId::new(last))
        };
        let live = live.into_iter().map(TaskId::new).collect();
        Ok(PurgeStep { removed, live, next })
    }

    fn buckets_of_purge(&self, what: &Purge) -> Vec<Bucket> {
        match what {
            Purge::Task(id) => self.layout.bucket(id).into_iter().collect(),
            Purge::Context { tenant, .. } | Purge::Tenant(tenant) => {
                // In the order of the ids in them, since a purge goes on after an id.
                let mut buckets: Vec<_> = self.layout.buckets_of(tenant.as_ref()).collect();
                buckets.sort();
                buckets
            }
        }
    }

    async fn purge_in(
        &self,
        bucket: Bucket,
        what: &Purge,
        after: Option<&TaskId>,
        most: usize,
    ) -> Result<(usize, Vec<String>, String), StoreError> {
        let after = after.map_or_else(|| "-".to_owned(), |after| format!("({after}"));
        let (from, to) = match what {
            Purge::Task(id) => (format!("[{id}"), format!("[{id}")),
            Purge::Context { .. } | Purge::Tenant(_) => (after, "+".to_owned()),
        };
        let tenant = what.tenant().map(|tenant| tenant_part(tenant.as_ref()));
        let context = match what {
            Purge::Context { context, .. } => context_part(context),
            Purge::Task(_) | Purge::Tenant(_) => String::new(),
        };
        let mut script = scripts::PURGE.key(self.layout.stem(bucket));
        script
            .arg(from)
            .arg(to)
            // One more than there can be of a task, so that none is taken for the last of many.
            .arg(most.max(2))
            .arg(tenant.unwrap_or_default())
            .arg(context)
            .arg(u8::from(matches!(what, Purge::Tenant(_))));
        // Sent twice it would count some tasks once only, and still take the right ones.
        self.link.write(bucket, &script).await
    }
}
