SHOW cluster_name
TRUNCATE plain
INSERT INTO plain VALUES (1, 'one'), (2, 'zwölf €'), (3, NULL)
SELECT * FROM plain ORDER BY id
UPDATE plain SET t = 'uno' WHERE id = 1
BEGIN
DELETE FROM plain
ROLLBACK
SELECT id, t, length(t) FROM plain ORDER BY id
SELECT * FROM nowhere
SELECT 1 / 0
SELECT customer_id, id, region, amount, placed FROM orders WHERE customer_id % 1000 = 20 AND customer_id < 3000 ORDER BY 1
help plain
help
DELETE FROM plain
