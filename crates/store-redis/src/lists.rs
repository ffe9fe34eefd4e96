//! Pages of lists. Those of a tenant in one bucket are read in one script, all of one moment. For one that is spread all of
//! its buckets are asked for places first, which say how far down the page goes; then each is asked for its tasks down to
//! there.

use futures::future;
use gateway_domain::{
    TaskId, TaskSnapshot,
    ports::{ListQuery, Listing, StoreError},
};

use tokio::time::timeout;

use crate::{
    Inner, keys,
    keys::Bucket,
    link::PATIENCE,
    reading::{Shown, stored},
    scripts,
};

/// A part of a list, as Redis is told it: between two places, the newest so many.
struct Stretch<'a> {
    query: &'a ListQuery,
    /// The older end.
    from: String,
    /// The newer end.
    before: String,
    most: usize,
}

impl Inner {
    pub(crate) async fn list(&self, query: ListQuery) -> Result<Listing, StoreError> {
        let buckets: Vec<_> = self.layout.buckets_of(query.scope.tenant.as_ref()).collect();
        let page = Stretch::page_of(&query);
        match buckets.as_slice() {
            [bucket] => self.list_in(*bucket, &page).await,
            buckets => {
                let listed = timeout(PATIENCE, self.list_over(buckets, page)).await;
                listed.unwrap_or_else(|_| Err(StoreError::new("a list is not read within its time")))
            }
        }
    }

    async fn list_in(&self, bucket: Bucket, stretch: &Stretch<'_>) -> Result<Listing, StoreError> {
        let query = stretch.query;
        let messages = query.history_length.unwrap_or(0);
        let mut script = scripts::LIST.key(self.layout.stem(bucket));
        script
            .key(self.list_key(bucket, query))
            .arg(&stretch.from)
            .arg(&stretch.before)
            .arg(stretch.most)
            .arg(messages)
            .arg(u8::from(query.include_artifacts));
        let (more, total, shown): (bool, usize, Vec<Shown>) = self.link.read(bucket, &script).await?;
        let tasks = shown
            .into_iter()
            .map(|shown| Ok(stored(shown, Some(messages))?.task));
        Ok(Listing {
            tasks: tasks.collect::<Result<_, StoreError>>()?,
            more,
            total,
        })
    }

    async fn list_over(&self, buckets: &[Bucket], page: Stretch<'_>) -> Result<Listing, StoreError> {
        let (mut tasks, mut total) = (Vec::new(), None);
        let mut left = page;
        // Again where some left the list before they were read: a short page would be taken for the last.
        loop {
            let (found, mut places) = self.places(buckets, &left).await?;
            let total = *total.get_or_insert(found);
            let mut more = places.len() > left.most;
            places.truncate(left.most);
            let Some(last) = places.last() else {
                return Ok(Listing { tasks, more, total });
            };
            let (read, others) = self.tasks_down_to(last, &places, &left).await?;
            more |= others;
            left.most = left.most.saturating_sub(read.len());
            left.before = format!("({last}");
            tasks.extend(read);
            if !more || left.most == 0 {
                return Ok(Listing { tasks, more, total });
            }
        }
    }

    /// How many tasks the buckets' lists have in all, and the places of a stretch: the newest first, and more than are
    /// asked for where more follow.
    async fn places(
        &self,
        buckets: &[Bucket],
        stretch: &Stretch<'_>,
    ) -> Result<(usize, Vec<String>), StoreError> {
        let asked = buckets.iter().map(async |bucket| {
            let mut script = scripts::PLACES.key(self.layout.stem(*bucket));
            script
                .key(self.list_key(*bucket, stretch.query))
                .arg(&stretch.from)
                .arg(&stretch.before)
                .arg(stretch.most);
            self.link.read(*bucket, &script).await
        });
        let answers: Vec<(usize, Vec<String>)> = future::try_join_all(asked).await?;
        let total = answers.iter().map(|(total, _)| total).sum();
        let mut places: Vec<_> = answers.into_iter().flat_map(|(_, places)| places).collect();
        places.sort_unstable_by(|one, other| other.cmp(one));
        Ok((total, places))
    }

    /// The tasks of a stretch down to a place, and whether others stand between them and it. Those of a bucket are all of
    /// one moment; what moved up since its places were read stands where it is now.
    async fn tasks_down_to(
        &self,
        last: &str,
        places: &[String],
        stretch: &Stretch<'_>,
    ) -> Result<(Vec<TaskSnapshot>, bool), StoreError> {
        let down_to = Stretch {
            from: format!("[{last}"),
            before: stretch.before.clone(),
            ..*stretch
        };
        let ids = places.iter().map(|place| TaskId::new(&place[keys::PLACE_ID..]));
        let mut buckets: Vec<_> = ids.filter_map(|id| self.layout.bucket(&id)).collect();
        buckets.sort_unstable();
        buckets.dedup();
        let asked = buckets.iter().map(|bucket| self.list_in(*bucket, &down_to));
        let listings = future::try_join_all(asked).await?;
        let mut more = listings.iter().any(|listing| listing.more);
        let mut tasks: Vec<_> = listings.into_iter().flat_map(|listing| listing.tasks).collect();
        tasks.sort_unstable_by(|one, other| {
            (other.status.timestamp, &other.id).cmp(&(one.status.timestamp, &one.id))
        });
        more |= tasks.len() > stretch.most;
        tasks.truncate(stretch.most);
        Ok((tasks, more))
    }

    fn list_key(&self, bucket: Bucket, query: &ListQuery) -> String {
        let filter = &query.filter;
        self.layout
            .list(bucket, &query.scope, filter.context_id.as_ref(), filter.status)
    }
}

impl<'a> Stretch<'a> {
    fn page_of(query: &'a ListQuery) -> Self {
        let from = query.filter.status_timestamp_after;
        let after = query.after.as_ref();
        Self {
            query,
            from: from.map_or_else(|| "-".to_owned(), |from| format!("[{}", keys::moment(from))),
            before: after.map_or_else(|| "+".to_owned(), |after| format!("({}", keys::place(after))),
            most: query.most,
        }
    }
}
