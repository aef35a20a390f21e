--
-- PostgreSQL database dump
--
SET client_encoding = 'UTF8';
SELECT pg_catalog.set_config('search_path', '', false);

CREATE SCHEMA archive;
CREATE EXTENSION IF NOT EXISTS plpgsql WITH SCHEMA pg_catalog;

CREATE TYPE public.rating AS ENUM (
    'everyone',
    'teens; with care',
    'adults'
);

CREATE DOMAIN public.release_year AS integer
	CONSTRAINT release_year_check CHECK (((VALUE >= 1890) AND (VALUE <= 2155)));

CREATE FUNCTION public.touch() RETURNS trigger
    LANGUAGE plpgsql
    AS $_$
BEGIN
    NEW.changed_at = CURRENT_TIMESTAMP;
    RETURN NEW;
END $_$;

CREATE FUNCTION public.in_stock(film integer) RETURNS bigint
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT CASE
            WHEN (in_stock.film > 0) THEN (1)::bigint
            ELSE (0)::bigint
        END AS "case";
END;

CREATE SEQUENCE public.film_film_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;

CREATE TABLE public.film (
    film_id integer DEFAULT nextval('public.film_film_id_seq'::regclass) NOT NULL,
    title character varying(255) NOT NULL,
    year public.release_year,
    rated public.rating DEFAULT 'everyone'::public.rating,
    rate numeric(4,2) DEFAULT 4.99 NOT NULL,
    features text[],
    fulltext tsvector,
    changed_at timestamp without time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.actor (
    actor_id integer NOT NULL,
    name text NOT NULL
);

ALTER TABLE public.actor ALTER COLUMN actor_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.actor_actor_id_seq
    START WITH 1
    INCREMENT BY 1
);

CREATE TABLE public.film_actor (
    actor_id integer NOT NULL,
    film_id integer NOT NULL
);

CREATE TABLE public.store (
    store_id integer NOT NULL,
    manager_id integer NOT NULL
);

CREATE TABLE public.staff (
    staff_id integer NOT NULL,
    store_id integer NOT NULL,
    active boolean DEFAULT true NOT NULL,
    picture bytea,
    token uuid
);

CREATE TABLE public.inventory (
    inventory_id bigint NOT NULL,
    film_id integer NOT NULL,
    store_id integer NOT NULL
);

CREATE TABLE public.payment (
    payment_id bigint NOT NULL,
    inventory_id bigint,
    amount numeric(5,2) NOT NULL,
    paid_at timestamp with time zone NOT NULL
)
PARTITION BY RANGE (paid_at);

CREATE TABLE archive.payment_2021 (
    payment_id bigint NOT NULL,
    inventory_id bigint,
    amount numeric(5,2) NOT NULL,
    paid_at timestamp with time zone NOT NULL
);

CREATE TABLE public.payment_2022 (
    paid_at timestamp with time zone NOT NULL,
    payment_id bigint NOT NULL,
    inventory_id bigint,
    amount numeric(5,2) NOT NULL
);

CREATE TABLE public.refund (
    payment_id bigint NOT NULL,
    paid_at timestamp with time zone NOT NULL,
    reason text
);

CREATE VIEW public.staff_list AS
 SELECT s.staff_id AS id,
    s.active,
    st.store_id
   FROM (public.staff s
     JOIN public.store st USING (store_id));

CREATE MATERIALIZED VIEW public.film_count AS
 SELECT inventory.film_id,
    count(*) AS copies
   FROM public.inventory
  GROUP BY inventory.film_id
  WITH NO DATA;

ALTER TABLE ONLY public.payment ATTACH PARTITION archive.payment_2021 FOR VALUES FROM ('2021-01-01 00:00:00+00') TO ('2022-01-01 00:00:00+00');
ALTER TABLE ONLY public.payment ATTACH PARTITION public.payment_2022 FOR VALUES FROM ('2022-01-01 00:00:00+00') TO ('2023-01-01 00:00:00+00');

COPY public.actor (actor_id, name) FROM stdin;
1	O'Hara; "Maureen"
2	back\\slash
\.

SELECT pg_catalog.setval('public.film_film_id_seq', 1, false);

ALTER TABLE ONLY public.film ADD CONSTRAINT film_pkey PRIMARY KEY (film_id);
ALTER TABLE ONLY public.actor ADD CONSTRAINT actor_pkey PRIMARY KEY (actor_id);
ALTER TABLE ONLY public.film_actor ADD CONSTRAINT film_actor_pkey PRIMARY KEY (actor_id, film_id);
ALTER TABLE ONLY public.store ADD CONSTRAINT store_pkey PRIMARY KEY (store_id);
ALTER TABLE ONLY public.store ADD CONSTRAINT store_manager_key UNIQUE (manager_id);
ALTER TABLE ONLY public.staff ADD CONSTRAINT staff_pkey PRIMARY KEY (staff_id);
ALTER TABLE ONLY public.inventory ADD CONSTRAINT inventory_pkey PRIMARY KEY (inventory_id);
ALTER TABLE ONLY public.payment ADD CONSTRAINT payment_pkey PRIMARY KEY (paid_at, payment_id);
ALTER TABLE ONLY archive.payment_2021 ADD CONSTRAINT payment_2021_pkey PRIMARY KEY (paid_at, payment_id);
ALTER TABLE ONLY public.payment_2022 ADD CONSTRAINT payment_2022_pkey PRIMARY KEY (paid_at, payment_id);
ALTER TABLE ONLY archive.payment_2021 ADD CONSTRAINT only_here UNIQUE (payment_id);
CREATE INDEX payment_inventory ON ONLY public.payment USING btree (inventory_id);
CREATE UNIQUE INDEX film_count_film ON public.film_count USING btree (film_id);
CREATE UNIQUE INDEX staff_token ON public.staff USING btree (token) WHERE active;
ALTER INDEX public.payment_pkey ATTACH PARTITION archive.payment_2021_pkey;
ALTER INDEX public.payment_pkey ATTACH PARTITION public.payment_2022_pkey;
CREATE TRIGGER touched BEFORE UPDATE ON public.film FOR EACH ROW EXECUTE FUNCTION public.touch();
ALTER TABLE ONLY public.film_actor ADD CONSTRAINT film_actor_actor FOREIGN KEY (actor_id) REFERENCES public.actor(actor_id);
ALTER TABLE ONLY public.film_actor ADD CONSTRAINT film_actor_film FOREIGN KEY (film_id) REFERENCES public.film(film_id) ON UPDATE CASCADE;
ALTER TABLE ONLY public.store ADD CONSTRAINT store_manager FOREIGN KEY (manager_id) REFERENCES public.staff(staff_id);
ALTER TABLE ONLY public.staff ADD CONSTRAINT staff_store FOREIGN KEY (store_id) REFERENCES public.store(store_id);
ALTER TABLE ONLY public.inventory ADD CONSTRAINT inventory_film FOREIGN KEY (film_id) REFERENCES public.film(film_id);
ALTER TABLE ONLY public.inventory ADD CONSTRAINT inventory_store FOREIGN KEY (store_id) REFERENCES public.store(store_id);
ALTER TABLE public.payment ADD CONSTRAINT payment_inventory FOREIGN KEY (inventory_id) REFERENCES public.inventory(inventory_id);
ALTER TABLE ONLY public.refund ADD CONSTRAINT refund_payment FOREIGN KEY (paid_at, payment_id) REFERENCES public.payment(paid_at, payment_id);
GRANT SELECT ON TABLE public.film TO PUBLIC;
