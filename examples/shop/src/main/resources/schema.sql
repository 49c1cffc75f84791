create table if not exists orders (
  id text primary key,
  state text not null,
  placed_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone
);
-- Without a key: a cancellation that happened twice would be seen.
create table if not exists notes (
  order_id text not null
);
