-- The release with the earlier name finds changes of subscriptions by this column, which is dropped again by the way back to this release.
alter table contacts add column if not exists subscription_before boolean not null default false;
