-- SPDX-FileCopyrightText: odbc-affinity contributors
-- SPDX-License-Identifier: Apache-2.0
--
-- The tables of one instance of setup/sandbox, in database app, run by psql
-- as superuser with :me (number of this instance's group) and :count (number
-- of groups) once the foreign servers n1, n2, … exist. Every instance gets
-- the whole tree: leaves it owns as tables, all others as foreign tables of
-- the same name on their owner. Every instance makes the same rows and keeps
-- those that its own leaves' partition constraints let in, so each row is
-- stored exactly once and no instance waits for another.
--
-- Keys and unique indexes stand on the leaves: a root with foreign leaves can
-- have none.

\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET client_encoding = 'UTF8';
SET ROLE app;
SELECT set_config('sandbox.me', :'me', false),
       set_config('sandbox.count', :'count', false) \g /dev/null

-- A leaf of tree "parent", owned by group n<owner>; "key" is its own key.
CREATE FUNCTION pg_temp.leaf(parent text, name text, bound text, owner int,
                             key text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF owner = current_setting('sandbox.me')::int THEN
        EXECUTE format('CREATE TABLE %I PARTITION OF %I %s',
                       name, parent, bound);
        EXECUTE format('ALTER TABLE %I ADD %s', name, key);
    ELSE
        EXECUTE format('CREATE FOREIGN TABLE %I PARTITION OF %I %s SERVER %I '
                       'OPTIONS (schema_name ''public'', table_name %L)',
                       name, parent, bound, 'n' || owner, name);
    END IF;
END $$;

-- Stores those rows of pg_temp.<root>_rows whose leaf is local.
CREATE FUNCTION pg_temp.fill(root text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    leaf regclass;
BEGIN
    FOR leaf IN SELECT t.relid FROM pg_partition_tree(root::regclass) t
                  JOIN pg_class c ON c.oid = t.relid WHERE c.relkind = 'r'
    LOOP
        EXECUTE format('INSERT INTO %s SELECT * FROM pg_temp.%I WHERE %s',
                       leaf, root || '_rows',
                       pg_get_partition_constraintdef(leaf));
    END LOOP;
END $$;

-- The groups that own a tree's leaves in turn.
CREATE FUNCTION pg_temp.turn(i int) RETURNS int LANGUAGE sql AS
$$ SELECT i % current_setting('sandbox.count')::int + 1 $$;

-- orders: RANGE; n1 owns 0-999, n2 1000-1999, …; DEFAULT is n1's.
CREATE TABLE orders (customer_id bigint, id bigint, region text,
                     amount numeric, placed timestamptz)
    PARTITION BY RANGE (customer_id);
SELECT pg_temp.leaf('orders', 'orders_n' || i,
                    format('FOR VALUES FROM (%s) TO (%s)',
                           (i - 1) * 1000, i * 1000),
                    i, 'PRIMARY KEY (customer_id, id)')
  FROM generate_series(1, :count) i \g /dev/null
SELECT pg_temp.leaf('orders', 'orders_default', 'DEFAULT', 1,
                    'UNIQUE (customer_id, id)') \g /dev/null
CREATE TEMP TABLE orders_rows AS
    SELECT c::bigint AS customer_id, c::bigint * 10 + 1 AS id,
           (ARRAY['eu', 'us', 'asia'])[1 + abs(c / 10) % 3] AS region,
           (abs(c) + 0.95)::numeric AS amount,
           timestamptz '2026-01-01 12:00:00+00' + c * interval '1 min' AS placed
      FROM generate_series(-50, :count * 1000 + 50, 10) c;

-- regions: LIST on text. Few keys that people know, one of them NULL, and a
-- hundred more for each instance. No DEFAULT: an unknown key is an error.
CREATE TABLE regions (k text, n int, note text) PARTITION BY LIST (k);
CREATE TEMP TABLE regions_keys AS
    SELECT o AS owner, k
      FROM (VALUES (1, 'eu'), (1, 'it''s'), (2, 'us'), (2, NULL), (3, 'asia'),
                   (3, 'žluťoučký kůň')) AS known(i, k),
           LATERAL pg_temp.turn(i - 1) o
    UNION ALL
    SELECT i, format('zone%s-%s', i, lpad(j::text, 2, '0'))
      FROM generate_series(1, :count) i, generate_series(0, 99) j;
SELECT pg_temp.leaf('regions', 'regions_n' || owner,
                    format('FOR VALUES IN (%s)', string_agg(quote_nullable(k),
                           ', ' ORDER BY k)), owner, 'UNIQUE (k, n)')
  FROM regions_keys GROUP BY owner \g /dev/null
CREATE TEMP TABLE regions_rows AS
    SELECT k, n, format('note %s of %s', n, coalesce(k, 'nowhere')) AS note
      FROM regions_keys, generate_series(1, 2) n;

-- devices: HASH on uuid. Modulus 12, or more if that is too few for all.
CREATE TABLE devices (id uuid, name text, seen timestamptz)
    PARTITION BY HASH (id);
SELECT 12 * ((:count + 11) / 12) AS modulus \gset
SELECT pg_temp.leaf('devices', 'devices_h' || lpad(r::text, 2, '0'),
                    format('FOR VALUES WITH (modulus %s, remainder %s)',
                           :modulus, r), pg_temp.turn(r), 'PRIMARY KEY (id)')
  FROM generate_series(0, :modulus - 1) r \g /dev/null
CREATE TEMP TABLE devices_rows AS
    SELECT md5('device ' || i)::uuid AS id, 'device ' || i AS name,
           timestamptz '2026-01-01 00:00:00+00' + i * interval '1 h' AS seen
      FROM generate_series(1, :modulus * 100) i;

-- readings: RANGE on date, then HASH on bigint. All of 2026q1 is n1's, so a
-- date alone decides there; the other quarters are spread.
CREATE TABLE readings (at date, sensor bigint, value double precision)
    PARTITION BY RANGE (at);
SELECT format('CREATE TABLE %I PARTITION OF readings FOR VALUES FROM (%L) '
              'TO (%L) PARTITION BY HASH (sensor)', 'readings_2026q' || q,
              date '2026-01-01' + (q - 1) * interval '3 months',
              date '2026-01-01' + q * interval '3 months')
  FROM generate_series(1, 4) q \gexec
SELECT greatest(4, (:count + 2) / 3) AS modulus \gset
SELECT pg_temp.leaf('readings_2026q' || q,
                    format('readings_2026q%s_h%s', q, r),
                    format('FOR VALUES WITH (modulus %s, remainder %s)',
                           :modulus, r),
                    CASE q WHEN 1 THEN 1
                    ELSE pg_temp.turn((q - 2) * :modulus + r) END,
                    'PRIMARY KEY (at, sensor)')
  FROM generate_series(1, 4) q, generate_series(0, :modulus - 1) r \g /dev/null
CREATE TEMP TABLE readings_rows AS
    SELECT date '2026-01-01' + d AS at, s::bigint AS sensor,
           d + s / 100.0::double precision AS value
      FROM generate_series(0, 364, 3) d, generate_series(1, :modulus * 6) s;

-- accounts: HASH on two columns, siblings of modulus m, 2m and 4m: remainder
-- 1 is split in two, remainder 2 in four.
CREATE TABLE accounts (bank bigint, number text, balance numeric)
    PARTITION BY HASH (bank, number);
SELECT (2 ^ greatest(2, ceil(log(2, :count))))::int AS modulus \gset
CREATE TEMP TABLE accounts_leaves AS
    SELECT m, r, row_number() OVER (ORDER BY m, r)::int - 1 AS i
      FROM (SELECT :modulus * f AS m, r
              FROM (VALUES (1), (2), (4)) AS factor(f),
                   generate_series(0, :modulus * f - 1) r
             WHERE f = CASE r % :modulus WHEN 1 THEN 2 WHEN 2 THEN 4
                       ELSE 1 END) AS leaves;
SELECT pg_temp.leaf('accounts', format('accounts_m%sr%s',
                           lpad(m::text, 2, '0'), lpad(r::text, 2, '0')),
                    format('FOR VALUES WITH (modulus %s, remainder %s)', m, r),
                    pg_temp.turn(i), 'UNIQUE (bank, number)')
  FROM accounts_leaves ORDER BY i \g /dev/null
CREATE TEMP TABLE accounts_rows AS
    SELECT b::bigint AS bank, 'ACC-' || lpad(i::text, 5, '0') AS number,
           (b * 100 + i)::numeric AS balance
      FROM generate_series(1, 20) b, generate_series(1, 100) i;

SELECT pg_temp.fill(root)
  FROM unnest(ARRAY['orders', 'regions', 'devices', 'readings', 'accounts'])
       root \g /dev/null

-- For tests of what a session may leave behind.
CREATE SEQUENCE ticket_seq;
CREATE TABLE plain (id int, t text);
