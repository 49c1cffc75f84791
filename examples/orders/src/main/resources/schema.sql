create table if not exists orders (
  id varchar(36) primary key,
  state varchar(9) not null,
  placed_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone
);
