-- The nine tables of TPC-C: keys of up to four columns, some inside, some added at the end.
create table warehouse (
  w_id smallint not null, w_name varchar(10), w_state char(2), w_tax decimal(4,4),
  w_ytd decimal(12,2), primary key (w_id));
create table district (
  d_id smallint not null, d_w_id smallint not null, d_name varchar(10), d_tax decimal(4,4),
  d_ytd decimal(12,2), d_next_o_id int, primary key (d_w_id, d_id));
create table customer (
  c_id int not null, c_d_id smallint not null, c_w_id smallint not null, c_first varchar(16),
  c_middle char(2), c_last varchar(16), c_since timestamp, c_credit char(2),
  c_balance decimal(12,2), c_data text, primary key (c_w_id, c_d_id, c_id));
create table history (
  h_c_id int, h_c_d_id smallint, h_c_w_id smallint, h_d_id smallint, h_w_id smallint,
  h_date timestamp, h_amount decimal(6,2), h_data varchar(24));
create table new_order (
  no_o_id int not null, no_d_id smallint not null, no_w_id smallint not null,
  primary key (no_w_id, no_d_id, no_o_id));
create table orders (
  o_id int not null, o_d_id smallint not null, o_w_id smallint not null, o_c_id int,
  o_entry_d timestamp, o_carrier_id smallint, o_ol_cnt smallint, o_all_local smallint,
  primary key (o_w_id, o_d_id, o_id));
create table order_line (
  ol_o_id int not null, ol_d_id smallint not null, ol_w_id smallint not null,
  ol_number smallint not null, ol_i_id int, ol_supply_w_id smallint, ol_delivery_d timestamp,
  ol_quantity smallint, ol_amount decimal(6,2), ol_dist_info char(24),
  primary key (ol_w_id, ol_d_id, ol_o_id, ol_number));
create table item (
  i_id int not null, i_im_id int, i_name varchar(24), i_price decimal(5,2), i_data varchar(50),
  primary key (i_id));
create table stock (
  s_i_id int not null, s_w_id smallint not null, s_quantity smallint, s_dist_01 char(24),
  s_ytd decimal(8,0), s_order_cnt int, s_remote_cnt int, s_data varchar(50),
  primary key (s_w_id, s_i_id));

create index customer_by_name on customer (c_w_id, c_d_id, c_last, c_first);
create unique index orders_by_customer on orders (o_w_id, o_d_id, o_c_id, o_id);
alter table district add constraint district_warehouse foreign key (d_w_id) references warehouse (w_id);
alter table customer add constraint customer_district foreign key (c_w_id, c_d_id) references district (d_w_id, d_id);
alter table history add foreign key (h_c_w_id, h_c_d_id, h_c_id) references customer (c_w_id, c_d_id, c_id);
alter table history add foreign key (h_w_id, h_d_id) references district;
alter table new_order add foreign key (no_w_id, no_d_id, no_o_id) references orders;
alter table orders add foreign key (o_w_id, o_d_id, o_c_id) references customer;
alter table order_line add foreign key (ol_w_id, ol_d_id, ol_o_id) references orders;
alter table order_line add foreign key (ol_supply_w_id, ol_i_id) references stock (s_w_id, s_i_id);
alter table stock add foreign key (s_w_id) references warehouse;
alter table stock add foreign key (s_i_id) references item;
