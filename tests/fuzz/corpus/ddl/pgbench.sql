--
-- PostgreSQL database dump
--

\restrict 0123456789abcdef

-- Dumped from database version 15.4

SET statement_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET default_tablespace = '';
SET default_table_access_method = heap;

--
-- Name: pgbench_accounts; Type: TABLE; Schema: public; Owner: bench
--

CREATE TABLE public.pgbench_accounts (
    aid integer NOT NULL,
    bid integer,
    abalance integer,
    filler character(84)
)
WITH (fillfactor='100');

CREATE TABLE public.pgbench_branches (
    bid integer NOT NULL,
    bbalance integer,
    filler character(88)
)
WITH (fillfactor='100');

CREATE TABLE public.pgbench_history (
    tid integer,
    bid integer,
    aid integer,
    delta integer,
    mtime timestamp without time zone,
    filler character(22)
);

CREATE TABLE public.pgbench_tellers (
    tid integer NOT NULL,
    bid integer,
    tbalance integer,
    filler character(84)
)
WITH (fillfactor='100');

--
-- Data for Name: pgbench_branches; Type: TABLE DATA; Schema: public; Owner: bench
--

COPY public.pgbench_branches (bid, bbalance, filler) FROM stdin;
1	0	\N
\.

ALTER TABLE ONLY public.pgbench_accounts
    ADD CONSTRAINT pgbench_accounts_pkey PRIMARY KEY (aid);

ALTER TABLE ONLY public.pgbench_branches
    ADD CONSTRAINT pgbench_branches_pkey PRIMARY KEY (bid);

ALTER TABLE ONLY public.pgbench_tellers
    ADD CONSTRAINT pgbench_tellers_pkey PRIMARY KEY (tid);

ALTER TABLE ONLY public.pgbench_accounts
    ADD CONSTRAINT pgbench_accounts_bid_fkey FOREIGN KEY (bid) REFERENCES public.pgbench_branches(bid);

ALTER TABLE ONLY public.pgbench_history
    ADD CONSTRAINT pgbench_history_aid_fkey FOREIGN KEY (aid) REFERENCES public.pgbench_accounts(aid);

ALTER TABLE ONLY public.pgbench_history
    ADD CONSTRAINT pgbench_history_bid_fkey FOREIGN KEY (bid) REFERENCES public.pgbench_branches(bid);

ALTER TABLE ONLY public.pgbench_history
    ADD CONSTRAINT pgbench_history_tid_fkey FOREIGN KEY (tid) REFERENCES public.pgbench_tellers(tid);

ALTER TABLE ONLY public.pgbench_tellers
    ADD CONSTRAINT pgbench_tellers_bid_fkey FOREIGN KEY (bid) REFERENCES public.pgbench_branches(bid);

\unrestrict 0123456789abcdef
