create table if not exists orders (
  id text primary key,
  state text not null,
  placed_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone
);
-- Without a key, so that a repeated cancellation would be visible.
create table if not exists notes (
  order_id text not null
);
