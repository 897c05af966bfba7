-- What kvlab wrote while its schema was number 8: made by its code of then, dumped as SQL.
CREATE TABLE schema_version("version" INTEGER NOT NULL);
CREATE TABLE runs(id VARCHAR PRIMARY KEY, scenario VARCHAR NOT NULL, yaml VARCHAR NOT NULL, seed BIGINT NOT NULL, versions JSON NOT NULL, status VARCHAR NOT NULL, started_at TIMESTAMP NOT NULL, wall_s DOUBLE, virtual_s DOUBLE, asked JSON DEFAULT('{}'));
CREATE TABLE arms(run VARCHAR, arm INTEGER, "name" VARCHAR NOT NULL, settings JSON NOT NULL, sessions INTEGER NOT NULL, history_digest VARCHAR NOT NULL, wall_s DOUBLE NOT NULL, virtual_s DOUBLE NOT NULL, stalled VARCHAR, timeout_s DOUBLE, PRIMARY KEY(run, arm), UNIQUE(run, "name"));
CREATE TABLE sessions(run VARCHAR NOT NULL, arm INTEGER NOT NULL, "session" INTEGER NOT NULL, replies_due INTEGER NOT NULL, first_sent_s DOUBLE, last_done_s DOUBLE);
CREATE TABLE turns(run VARCHAR NOT NULL, arm INTEGER NOT NULL, "session" INTEGER NOT NULL, turn INTEGER NOT NULL, expected_text VARCHAR NOT NULL, expected_call JSON NOT NULL);
CREATE TABLE replies(run VARCHAR NOT NULL, arm INTEGER NOT NULL, "position" INTEGER NOT NULL, "session" INTEGER NOT NULL, turn INTEGER NOT NULL, due BOOLEAN NOT NULL, status VARCHAR NOT NULL, finish_reason VARCHAR, raw_text VARCHAR, "content" VARCHAR, reasoning VARCHAR, tool_calls VARCHAR NOT NULL, prompt_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, sent_s DOUBLE NOT NULL, first_token_s DOUBLE, done_s DOUBLE, request_id VARCHAR, "error" VARCHAR, tries INTEGER DEFAULT(1), first_sent_s DOUBLE, last_token_s DOUBLE, gaps_ms JSON DEFAULT('{}'), cached_tiers JSON DEFAULT('{}'), chunks VARCHAR DEFAULT('[]'));
CREATE TABLE counters(run VARCHAR NOT NULL, arm INTEGER NOT NULL, "name" VARCHAR NOT NULL, "value" BIGINT NOT NULL);
CREATE TABLE events(run VARCHAR NOT NULL, arm INTEGER NOT NULL, "position" INTEGER NOT NULL, at_ns BIGINT NOT NULL, kind VARCHAR NOT NULL, fields JSON NOT NULL);
CREATE TABLE findings(run VARCHAR NOT NULL, arm INTEGER NOT NULL, "position" INTEGER NOT NULL, "session" INTEGER NOT NULL, turn INTEGER NOT NULL, detector VARCHAR NOT NULL, outcome VARCHAR NOT NULL, detail VARCHAR NOT NULL, kind VARCHAR NOT NULL);
CREATE TABLE verdicts(run VARCHAR NOT NULL, arm INTEGER NOT NULL, judged_at TIMESTAMP NOT NULL, sessions INTEGER NOT NULL, sessions_corrupt INTEGER NOT NULL, replies_due INTEGER NOT NULL, replies_corrupt INTEGER NOT NULL, unfinished INTEGER NOT NULL, rate DOUBLE NOT NULL, ci95_low DOUBLE NOT NULL, ci95_high DOUBLE NOT NULL, outcomes JSON NOT NULL, violations JSON NOT NULL, exposure JSON NOT NULL, verdict VARCHAR NOT NULL, expected VARCHAR, reason VARCHAR NOT NULL, expected_violations JSON DEFAULT('[]'), caveat VARCHAR DEFAULT(''), mismatches JSON DEFAULT('[]'), late_writes JSON DEFAULT('[]'), faults JSON DEFAULT('{}'), room_failures JSON DEFAULT('{}'), sessions_silent INTEGER DEFAULT(0), sessions_missed INTEGER DEFAULT(0), replies_missed INTEGER DEFAULT(0), missed JSON DEFAULT('{}'), control VARCHAR DEFAULT(''));
CREATE TABLE comparisons(run VARCHAR NOT NULL, "position" INTEGER NOT NULL, a VARCHAR NOT NULL, b VARCHAR NOT NULL, test VARCHAR NOT NULL, p_value DOUBLE NOT NULL, difference_low DOUBLE NOT NULL, difference_high DOUBLE NOT NULL);
CREATE TABLE rooms(run VARCHAR NOT NULL, arm INTEGER NOT NULL, place INTEGER NOT NULL, room BIGINT NOT NULL, request BIGINT NOT NULL, rank INTEGER NOT NULL, prompt INTEGER NOT NULL, prefill JSON NOT NULL, decode JSON NOT NULL, chunks INTEGER NOT NULL, moved_bytes JSON NOT NULL, flash_bytes BIGINT NOT NULL, outcome VARCHAR NOT NULL, why VARCHAR NOT NULL, released_s DOUBLE, drained_s DOUBLE);
CREATE TABLE room_digests(run VARCHAR NOT NULL, arm INTEGER NOT NULL, place INTEGER NOT NULL, room BIGINT NOT NULL, stage VARCHAR NOT NULL, pool VARCHAR NOT NULL, layer INTEGER NOT NULL, "position" INTEGER NOT NULL, page INTEGER NOT NULL, digest BIGINT NOT NULL, rank INTEGER NOT NULL);
CREATE TABLE bisections(id VARCHAR PRIMARY KEY, scenario VARCHAR NOT NULL, yaml VARCHAR NOT NULL, seed BIGINT NOT NULL, "method" VARCHAR NOT NULL, "options" JSON NOT NULL, versions JSON NOT NULL, status VARCHAR NOT NULL, started_at TIMESTAMP NOT NULL, verdict JSON);
CREATE TABLE trials(bisection VARCHAR NOT NULL, "position" INTEGER NOT NULL, probe INTEGER, phase VARCHAR, config JSON NOT NULL, trial BIGINT NOT NULL, seed BIGINT NOT NULL, sessions INTEGER NOT NULL, corrupt INTEGER NOT NULL, "unknown" VARCHAR NOT NULL, verdict VARCHAR NOT NULL, violations JSON NOT NULL, faults JSON NOT NULL, exposure JSON NOT NULL, reach JSON NOT NULL, digest VARCHAR NOT NULL, wall_s DOUBLE NOT NULL);
CREATE VIEW room_pages AS SELECT *, CASE  WHEN ((dst_digest IS NOT NULL)) THEN ((src_digest IS NOT DISTINCT FROM dst_digest)) ELSE NULL END AS equal FROM (SELECT run, arm, rank, room, pool, layer, "position", arg_max(page, place) FILTER (WHERE (stage = 'post_store')) AS src_page, arg_max(page, place) FILTER (WHERE (stage = 'post_transfer')) AS dst_page, arg_max(digest, place) FILTER (WHERE (stage = 'post_store')) AS src_digest, arg_max(digest, place) FILTER (WHERE (stage = 'post_transfer')) AS dst_digest FROM room_digests GROUP BY run, arm, rank, room, pool, layer, "position");
INSERT INTO schema_version VALUES (1);
INSERT INTO schema_version VALUES (2);
INSERT INTO schema_version VALUES (3);
INSERT INTO schema_version VALUES (4);
INSERT INTO schema_version VALUES (5);
INSERT INTO schema_version VALUES (6);
INSERT INTO schema_version VALUES (7);
INSERT INTO schema_version VALUES (8);
INSERT INTO runs VALUES ('20261130T170748-4031', 'padded_scatter', 'name: padded_scatter
workload: {kind: tool_sessions, sessions: 3}
', 7, '{"kvlab":"0.1.0","duckdb":"2.0.1"}', 'done', '2026-11-30 17:07:48.128196', 14.5, 812.4, '{"argv":[],"sets":[],"sessions":{}}');
INSERT INTO arms VALUES ('20261130T170748-4031', 0, 'bf16, graph on', '{"index_k":"bf16","graph":true,"graph_max_bs":64,"arrival_rate":2.5}', 3, 'sha256:0000000000000000000000000000000000000000000000000000000000000000', 14.25, 812.4, NULL, NULL);
INSERT INTO arms VALUES ('20261130T170748-4031', 1, 'fp8, graph on', '{"index_k":"bf16","graph":true,"graph_max_bs":64,"arrival_rate":2.5}', 3, 'sha256:0000000000000000000000000000000000000000000000000000000000000000', 14.25, 812.4, NULL, NULL);
INSERT INTO sessions VALUES ('20261130T170748-4031', 0, 0, 2, 0.0, 0.2);
INSERT INTO sessions VALUES ('20261130T170748-4031', 0, 1, 2, 1.0, 1.2000000000000002);
INSERT INTO sessions VALUES ('20261130T170748-4031', 0, 2, 2, 2.0, 2.2);
INSERT INTO sessions VALUES ('20261130T170748-4031', 1, 0, 2, 0.0, 0.2);
INSERT INTO sessions VALUES ('20261130T170748-4031', 1, 1, 2, 1.0, 1.2000000000000002);
INSERT INTO sessions VALUES ('20261130T170748-4031', 1, 2, 2, 2.0, 2.2);
INSERT INTO turns VALUES ('20261130T170748-4031', 0, 0, 0, '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', '{"name":"f","arguments":{"a":"V1"}}');
INSERT INTO turns VALUES ('20261130T170748-4031', 0, 0, 1, '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', '{"name":"f","arguments":{"a":"V1"}}');
INSERT INTO turns VALUES ('20261130T170748-4031', 0, 1, 0, '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', '{"name":"f","arguments":{"a":"V1"}}');
INSERT INTO turns VALUES ('20261130T170748-4031', 0, 1, 1, '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', '{"name":"f","arguments":{"a":"V1"}}');
INSERT INTO turns VALUES ('20261130T170748-4031', 0, 2, 0, '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', '{"name":"f","arguments":{"a":"V1"}}');
INSERT INTO turns VALUES ('20261130T170748-4031', 0, 2, 1, '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', '{"name":"f","arguments":{"a":"V1"}}');
INSERT INTO turns VALUES ('20261130T170748-4031', 1, 0, 0, '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', '{"name":"f","arguments":{"a":"V1"}}');
INSERT INTO turns VALUES ('20261130T170748-4031', 1, 0, 1, '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', '{"name":"f","arguments":{"a":"V1"}}');
INSERT INTO turns VALUES ('20261130T170748-4031', 1, 1, 0, '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', '{"name":"f","arguments":{"a":"V1"}}');
INSERT INTO turns VALUES ('20261130T170748-4031', 1, 1, 1, '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', '{"name":"f","arguments":{"a":"V1"}}');
INSERT INTO turns VALUES ('20261130T170748-4031', 1, 2, 0, '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', '{"name":"f","arguments":{"a":"V1"}}');
INSERT INTO turns VALUES ('20261130T170748-4031', 1, 2, 1, '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', '{"name":"f","arguments":{"a":"V1"}}');
INSERT INTO replies VALUES ('20261130T170748-4031', 0, 0, 0, 0, TRUE, 'ok', 'tool_calls', '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', NULL, 'Call f for K1.', '[{"id":"1","function":{"name":"f","arguments":"{\"a\":\"｜\"}"}}]', 6000, 0, 69, 0.0, 0.03, 0.1, 'r0-0', NULL, 1, NULL, NULL, '{}', '{}', '[]');
INSERT INTO replies VALUES ('20261130T170748-4031', 0, 1, 1, 0, TRUE, 'ok', 'tool_calls', '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', NULL, 'Call f for K1.', '[{"id":"1","function":{"name":"f","arguments":"{\"a\":\"｜\"}"}}]', 6000, 0, 69, 1.0, 1.03, 1.1, 'r1-0', NULL, 1, NULL, NULL, '{}', '{}', '[]');
INSERT INTO replies VALUES ('20261130T170748-4031', 0, 2, 2, 0, TRUE, 'ok', 'tool_calls', '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', NULL, 'Call f for K1.', '[{"id":"1","function":{"name":"f","arguments":"{\"a\":\"｜\"}"}}]', 6000, 0, 69, 2.0, 2.03, 2.1, 'r2-0', NULL, 1, NULL, NULL, '{}', '{}', '[]');
INSERT INTO replies VALUES ('20261130T170748-4031', 0, 3, 0, 1, TRUE, 'ok', 'tool_calls', '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', NULL, 'Call f for K1.', '[{"id":"1","function":{"name":"f","arguments":"{\"a\":\"｜\"}"}}]', 6001, 256, 69, 0.1, 0.13, 0.2, 'r0-1', NULL, 1, NULL, NULL, '{}', '{}', '[]');
INSERT INTO replies VALUES ('20261130T170748-4031', 0, 4, 1, 1, TRUE, 'ok', 'tool_calls', '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', NULL, 'Call f for K1.', '[{"id":"1","function":{"name":"f","arguments":"{\"a\":\"｜\"}"}}]', 6001, 256, 69, 1.1, 1.1300000000000001, 1.2000000000000002, 'r1-1', NULL, 1, NULL, NULL, '{}', '{}', '[]');
INSERT INTO replies VALUES ('20261130T170748-4031', 0, 5, 2, 1, TRUE, 'ok', 'tool_calls', '<think>Call f for K1.</think>

<｜DSML｜tool_cblls>
<｜DSML｜tool_cblls>', NULL, 'Call f for K1.', '[{"id":"1","function":{"name":"f","arguments":"{\"a\":\"｜\"}"}}]', 6001, 256, 68, 2.1, 2.13, 2.2, 'r2-1', NULL, 1, NULL, NULL, '{}', '{}', '[]');
INSERT INTO replies VALUES ('20261130T170748-4031', 1, 0, 0, 0, TRUE, 'ok', 'tool_calls', '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', NULL, 'Call f for K1.', '[{"id":"1","function":{"name":"f","arguments":"{\"a\":\"｜\"}"}}]', 6000, 0, 69, 0.0, 0.03, 0.1, 'r0-0', NULL, 1, NULL, NULL, '{}', '{}', '[]');
INSERT INTO replies VALUES ('20261130T170748-4031', 1, 1, 1, 0, TRUE, 'ok', 'tool_calls', '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', NULL, 'Call f for K1.', '[{"id":"1","function":{"name":"f","arguments":"{\"a\":\"｜\"}"}}]', 6000, 0, 69, 1.0, 1.03, 1.1, 'r1-0', NULL, 1, NULL, NULL, '{}', '{}', '[]');
INSERT INTO replies VALUES ('20261130T170748-4031', 1, 2, 2, 0, TRUE, 'ok', 'tool_calls', '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', NULL, 'Call f for K1.', '[{"id":"1","function":{"name":"f","arguments":"{\"a\":\"｜\"}"}}]', 6000, 0, 69, 2.0, 2.03, 2.1, 'r2-0', NULL, 1, NULL, NULL, '{}', '{}', '[]');
INSERT INTO replies VALUES ('20261130T170748-4031', 1, 3, 0, 1, TRUE, 'ok', 'tool_calls', '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', NULL, 'Call f for K1.', '[{"id":"1","function":{"name":"f","arguments":"{\"a\":\"｜\"}"}}]', 6001, 256, 69, 0.1, 0.13, 0.2, 'r0-1', NULL, 1, NULL, NULL, '{}', '{}', '[]');
INSERT INTO replies VALUES ('20261130T170748-4031', 1, 4, 1, 1, TRUE, 'ok', 'tool_calls', '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', NULL, 'Call f for K1.', '[{"id":"1","function":{"name":"f","arguments":"{\"a\":\"｜\"}"}}]', 6001, 256, 69, 1.1, 1.1300000000000001, 1.2000000000000002, 'r1-1', NULL, 1, NULL, NULL, '{}', '{}', '[]');
INSERT INTO replies VALUES ('20261130T170748-4031', 1, 5, 2, 1, TRUE, 'ok', 'tool_calls', '<think>Call f for K1.</think>

<｜DSML｜tool_calls>
</｜DSML｜tool_calls>', NULL, 'Call f for K1.', '[{"id":"1","function":{"name":"f","arguments":"{\"a\":\"｜\"}"}}]', 6001, 256, 69, 2.1, 2.13, 2.2, 'r2-1', NULL, 1, NULL, NULL, '{}', '{}', '[]');
INSERT INTO counters VALUES ('20261130T170748-4031', 0, 'padded_rows', 5123);
INSERT INTO counters VALUES ('20261130T170748-4031', 0, 'prefix_hits', 240);
INSERT INTO counters VALUES ('20261130T170748-4031', 0, 'retractions', 0);
INSERT INTO counters VALUES ('20261130T170748-4031', 0, 'violation:padded_row_wrote_owned_slot', 31);
INSERT INTO counters VALUES ('20261130T170748-4031', 1, 'padded_rows', 5123);
INSERT INTO counters VALUES ('20261130T170748-4031', 1, 'prefix_hits', 240);
INSERT INTO counters VALUES ('20261130T170748-4031', 1, 'retractions', 0);
INSERT INTO events VALUES ('20261130T170748-4031', 0, 0, 0, 'store', '{"row":0,"pool":"index_k"}');
INSERT INTO events VALUES ('20261130T170748-4031', 0, 1, 1000, 'store', '{"row":1,"pool":"index_k"}');
INSERT INTO events VALUES ('20261130T170748-4031', 1, 0, 0, 'store', '{"row":0,"pool":"index_k"}');
INSERT INTO events VALUES ('20261130T170748-4031', 1, 1, 1000, 'store', '{"row":1,"pool":"index_k"}');
INSERT INTO findings VALUES ('20261130T170748-4031', 0, 0, 2, 1, 'leaked_markup', 'fail', 'markup in the visible text', 'corrupt');
INSERT INTO verdicts VALUES ('20261130T170748-4031', 0, '2026-11-30 17:07:48.276291', 3, 1, 6, 1, 0, 0.3333333333333333, 0.06149194472039626, 0.7923403991979523, '{"leaked_markup":1}', '{"padded_row_wrote_owned_slot":31}', '{"padded_rows":5123,"prefix_hits":240,"retractions":0}', 'corrupt', 'corrupt', '', '[]', '', '[]', '[]', '{}', '{}', 0, 0, 0, '{}', '');
INSERT INTO verdicts VALUES ('20261130T170748-4031', 1, '2026-11-30 17:07:48.276291', 3, 0, 6, 0, 0, 0.0, 0.0, 0.5614970317550454, '{}', '{}', '{"padded_rows":5123,"prefix_hits":240,"retractions":0}', 'clean', 'clean', '', '[]', '', '[]', '[]', '{}', '{}', 0, 0, 0, '{}', '');
INSERT INTO comparisons VALUES ('20261130T170748-4031', 0, 'bf16, graph on', 'fp8, graph on', 'fisher', 1.0, -0.29050691643637844, 0.7923403991979523);
INSERT INTO bisections VALUES ('20261130T170748-1663', 'padded_scatter', 'name: padded_scatter
', 7, 'adaptive', '{"budget":200}', '{"kvlab":"0.1.0"}', 'done', '2026-11-30 17:07:48.373431', '{"verdict":"CONFIRMED","culprits":[{"toggle":"graph","bad":true,"good":false}],"posterior":0.99}');
INSERT INTO trials VALUES ('20261130T170748-1663', 0, 0, 'reproduce', '{"bad": ["graph"], "levels": []}', 0, 11, 10, 2, '', 'corrupt', '{"padded_row_wrote_owned_slot":4}', '{}', '{"padded_rows":12}', '{}', 'sha256:1', 1.5);
