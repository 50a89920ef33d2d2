CREATE TABLE {schema}.record (
	rule           text COLLATE "C" NOT NULL,
	id             bytea NOT NULL,           -- of scope and key; see names.go
	scope          text NOT NULL,
	key            text NOT NULL,
	v              bigint NOT NULL,
	version        bigint NOT NULL,
	episode        bigint NOT NULL,
	sends          bigint NOT NULL,
	sent           bigint NOT NULL,
	lease_until    bigint NOT NULL,          -- this and all other times: microseconds since 1970, 0 is none
	update_until   bigint NOT NULL,
	claimed_at     bigint NOT NULL,
	sent_at        bigint NOT NULL,
	seen_at        bigint NOT NULL,
	opened_at      bigint NOT NULL,
	expires_at     bigint NOT NULL,
	keep_until     bigint NOT NULL,
	free_at        bigint NOT NULL,
	state          text NOT NULL,
	holder         text NOT NULL,
	update_holder  text NOT NULL,
	fingerprint    text NOT NULL,
	suffix         text NOT NULL,
	nonce          text NOT NULL,            -- of the Swap that wrote this version; empty when another call did
	rest           text NOT NULL,
	trail          text NOT NULL,
	identity       bytea,
	body           bytea,
	prior          text NOT NULL,
	prior_identity bytea,
	prior_body     bytea,
	PRIMARY KEY (rule, id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX record_end ON {schema}.record (keep_until) WHERE keep_until > 0;

CREATE TABLE {schema}.ticket (
	id           bytea PRIMARY KEY,          -- of scope and ticket
	scope        text NOT NULL,
	ticket       text NOT NULL,
	rule         text NOT NULL,              -- this and the next two: the record that holds the ticket,
	ref_scope    text NOT NULL,
	key          text NOT NULL,
	held_until   bigint NOT NULL,            -- until then
	closed_until bigint NOT NULL             -- until then a close is kept
);
CREATE INDEX ticket_end ON {schema}.ticket (greatest(held_until, closed_until));

-- The store's clock. It is read after a lock was waited for, unlike now().
CREATE FUNCTION {schema}.micros(a_moved bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + a_moved
$$;

-- Without a holder it only reads. It reads first without a lock: a re-fire
-- that finds its ticket open and its life long enough waits for nobody. Where
-- a write is due it looks again under the row's lock, and decides anew.
CREATE FUNCTION {schema}.claim(
	a_rule text, a_id bytea, a_scope text, a_key text, a_moved bigint, a_format bigint,
	a_holder text, a_fingerprint text, a_style text, a_lease bigint, a_keep bigint,
	a_rest text, a_identity bytea, a_nothing text, -- the prior where there was no record
	a_ttl bigint, a_age bigint, a_open bigint, a_gain bigint, -- the least gain of life that is worth a write
	OUT won boolean, OUT clock bigint, OUT rec {schema}.record
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	r      {schema}.record;
	locked boolean := false;
	there  boolean;
	ends   bigint;
BEGIN
	IF pg_is_in_recovery() THEN
		RAISE EXCEPTION 'this server is a standby' USING ERRCODE = 'read_only_sql_transaction'; -- what it has may be old
	END IF;
	won := false;
	LOOP
		IF locked THEN
			SELECT * INTO r FROM {schema}.record t WHERE t.rule = a_rule AND t.id = a_id FOR UPDATE;
		ELSE
			SELECT * INTO r FROM {schema}.record t WHERE t.rule = a_rule AND t.id = a_id;
		END IF;
		there := FOUND;
		clock := {schema}.micros(a_moved);
		rec := r;
		IF a_holder IS NULL OR r.v > a_format THEN
			RETURN;
		END IF;

		IF NOT there THEN
			INSERT INTO {schema}.record AS t (rule, id, scope, key, v, version, episode, sends, sent,
				lease_until, update_until, claimed_at, sent_at, seen_at, opened_at, expires_at, keep_until, free_at,
				state, holder, update_holder, fingerprint, suffix, nonce, rest, trail, identity, body, prior, prior_identity, prior_body)
			VALUES (a_rule, a_id, a_scope, a_key, a_format, 1, 1, 1, 0,
				clock + a_lease, 0, clock, clock, clock, 0, 0, clock + a_keep, clock + a_keep,
				'claimed', a_holder, '', a_fingerprint, CASE a_style WHEN 'time' THEN '.' || (clock / 1000000) ELSE '' END, '',
				a_rest, 'null', a_identity, NULL, a_nothing, NULL, NULL)
			ON CONFLICT DO NOTHING
			RETURNING t.* INTO r;
			IF FOUND THEN
				won := true;
				rec := r;
				RETURN;
			END IF;
			CONTINUE; -- somebody else was first, and that is there now
		END IF;

		IF r.state = 'claimed' AND r.holder = a_holder AND r.lease_until > clock THEN
			won := true;
			RETURN;
		END IF;

		IF r.free_at <= clock THEN
			IF locked THEN
				UPDATE {schema}.record t SET
					v = a_format, version = r.version + 1, episode = r.episode + 1, sends = 1, sent = 0,
					lease_until = clock + a_lease, update_until = 0,
					claimed_at = clock, sent_at = clock, seen_at = clock, opened_at = 0, expires_at = 0,
					keep_until = greatest(r.keep_until, clock + a_keep), free_at = greatest(r.keep_until, clock + a_keep),
					state = 'claimed', holder = a_holder, update_holder = '', fingerprint = a_fingerprint,
					suffix = CASE
						WHEN a_style = 'time' THEN '.' || (clock / 1000000)
						WHEN a_style = 'episode' AND r.episode > 0 THEN '.' || (r.episode + 1)
						ELSE '' END,
					nonce = '', rest = a_rest, identity = a_identity, body = NULL,
					-- The form of recordjson's Prior.
					prior = '{"head":[' || concat_ws(',', r.v, r.version, r.episode, r.sends, r.sent,
						r.lease_until, r.update_until, r.claimed_at, r.sent_at, r.seen_at, r.opened_at, r.expires_at, r.keep_until, r.free_at)
						|| '],"suffix":"' || r.suffix || '","trail":' || r.trail || ',"rest":' || r.rest || '}',
					prior_identity = r.identity, prior_body = r.body
				WHERE t.rule = a_rule AND t.id = a_id
				RETURNING t.* INTO r;
				won := true;
				rec := r;
				RETURN;
			END IF;
		ELSE
			IF r.state <> 'open' OR r.update_until > clock OR r.fingerprint = '' OR r.fingerprint <> a_fingerprint THEN
				RETURN;
			END IF;
			ends := clock + a_ttl;
			IF a_age > 0 THEN
				ends := least(ends, r.opened_at + a_age);
			END IF;
			IF ends - r.expires_at < a_gain THEN
				RETURN;
			END IF;
			IF locked THEN
				UPDATE {schema}.record t SET
					version = r.version + 1, expires_at = ends, free_at = ends, seen_at = clock,
					keep_until = greatest(r.keep_until, ends + a_open), nonce = ''
				WHERE t.rule = a_rule AND t.id = a_id
				RETURNING t.* INTO r;
				rec := r;
				RETURN;
			END IF;
		END IF;
		locked := true;
	END LOOP;
END
$$;

-- True: written, now or by an earlier try of the same call; false: a conflict.
CREATE FUNCTION {schema}.swap(
	a_rule text, a_id bytea, a_scope text, a_key text, a_format bigint, a_seen bigint,
	a_v bigint, a_version bigint, a_episode bigint, a_sends bigint, a_sent bigint,
	a_lease_until bigint, a_update_until bigint, a_claimed_at bigint, a_sent_at bigint, a_seen_at bigint,
	a_opened_at bigint, a_expires_at bigint, a_keep_until bigint, a_free_at bigint,
	a_state text, a_holder text, a_update_holder text, a_fingerprint text, a_suffix text, a_nonce text, a_rest text, a_trail text,
	a_identity bytea, a_body bytea, a_prior text, a_prior_identity bytea, a_prior_body bytea
) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	UPDATE {schema}.record t SET
		v = a_v, version = a_version, episode = a_episode, sends = a_sends, sent = a_sent,
		lease_until = a_lease_until, update_until = a_update_until, claimed_at = a_claimed_at, sent_at = a_sent_at, seen_at = a_seen_at,
		opened_at = a_opened_at, expires_at = a_expires_at, keep_until = a_keep_until, free_at = a_free_at,
		state = a_state, holder = a_holder, update_holder = a_update_holder, fingerprint = a_fingerprint,
		suffix = a_suffix, nonce = a_nonce, rest = a_rest, trail = a_trail,
		identity = a_identity, body = a_body, prior = a_prior, prior_identity = a_prior_identity, prior_body = a_prior_body
	WHERE t.rule = a_rule AND t.id = a_id AND t.version = a_seen AND t.v <= a_format;
	IF FOUND THEN
		RETURN true;
	END IF;
	IF a_seen = 0 THEN
		INSERT INTO {schema}.record (rule, id, scope, key, v, version, episode, sends, sent,
			lease_until, update_until, claimed_at, sent_at, seen_at, opened_at, expires_at, keep_until, free_at,
			state, holder, update_holder, fingerprint, suffix, nonce, rest, trail, identity, body, prior, prior_identity, prior_body)
		VALUES (a_rule, a_id, a_scope, a_key, a_v, a_version, a_episode, a_sends, a_sent,
			a_lease_until, a_update_until, a_claimed_at, a_sent_at, a_seen_at, a_opened_at, a_expires_at, a_keep_until, a_free_at,
			a_state, a_holder, a_update_holder, a_fingerprint, a_suffix, a_nonce, a_rest, a_trail,
			a_identity, a_body, a_prior, a_prior_identity, a_prior_body)
		ON CONFLICT DO NOTHING;
		IF FOUND THEN
			RETURN true;
		END IF;
	END IF;
	-- A row that was written over in between is not ours.
	RETURN a_nonce <> '' AND EXISTS (
		SELECT FROM {schema}.record t
		WHERE t.rule = a_rule AND t.id = a_id AND t.version = a_seen + 1 AND t.nonce = a_nonce);
END
$$;

CREATE FUNCTION {schema}.renew(
	a_rule text, a_id bytea, a_moved bigint, a_format bigint, a_holder text, a_lease bigint
) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	r        {schema}.record;
	clock    bigint;
	claiming boolean;
	updating boolean;
BEGIN
	SELECT * INTO r FROM {schema}.record t WHERE t.rule = a_rule AND t.id = a_id FOR UPDATE;
	IF NOT FOUND OR r.v > a_format THEN
		RETURN false;
	END IF;
	clock := {schema}.micros(a_moved);
	claiming := r.state = 'claimed' AND r.holder = a_holder AND r.lease_until > clock;
	updating := r.update_holder = a_holder AND r.update_until > clock;
	IF NOT (claiming OR updating) THEN
		RETURN false;
	END IF;
	UPDATE {schema}.record t SET
		lease_until = CASE WHEN claiming THEN clock + a_lease ELSE t.lease_until END,
		update_until = CASE WHEN updating THEN clock + a_lease ELSE t.update_until END
	WHERE t.rule = a_rule AND t.id = a_id;
	RETURN true;
END
$$;

CREATE FUNCTION {schema}.mark(a_rule text, a_id bytea, a_format bigint, a_holder text) RETURNS void LANGUAGE sql VOLATILE AS $$
	UPDATE {schema}.record t SET sent = 1
	WHERE t.rule = a_rule AND t.id = a_id AND t.v <= a_format AND t.state = 'claimed' AND t.holder = a_holder
$$;

-- False: of a newer format, and left alone. A stub that is free at once is
-- left as it is, so that the call can be repeated.
CREATE FUNCTION {schema}.remove(a_rule text, a_id bytea, a_format bigint, a_rest text) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	UPDATE {schema}.record t SET
		version = t.version + 1, sends = 0, sent = 0, lease_until = 0, update_until = 0, claimed_at = 0, sent_at = 0,
		seen_at = 0, opened_at = 0, expires_at = 0, free_at = 0, state = 'none', holder = '', update_holder = '',
		fingerprint = '', suffix = '', nonce = '', rest = a_rest, trail = 'null', identity = NULL, body = NULL,
		prior = '', prior_identity = NULL, prior_body = NULL
	WHERE t.rule = a_rule AND t.id = a_id AND t.v <= a_format AND NOT (t.state = 'none' AND t.free_at = 0);
	RETURN FOUND OR NOT EXISTS (
		SELECT FROM {schema}.record t WHERE t.rule = a_rule AND t.id = a_id AND t.v > a_format);
END
$$;

-- True: a close of the ticket was kept; it stays kept, so that the call can be
-- repeated after a lost reply.
CREATE FUNCTION {schema}.hold(
	a_id bytea, a_scope text, a_ticket text, a_rule text, a_ref_scope text, a_key text, a_moved bigint, a_keep bigint
) RETURNS boolean LANGUAGE sql VOLATILE AS $$
	INSERT INTO {schema}.ticket AS t (id, scope, ticket, rule, ref_scope, key, held_until, closed_until)
	VALUES (a_id, a_scope, a_ticket, a_rule, a_ref_scope, a_key, {schema}.micros(a_moved) + a_keep, 0)
	ON CONFLICT (id) DO UPDATE SET
		rule = excluded.rule, ref_scope = excluded.ref_scope, key = excluded.key, held_until = excluded.held_until
	RETURNING t.closed_until > {schema}.micros(a_moved)
$$;

-- The record that holds the ticket; where none does, the close is kept.
CREATE FUNCTION {schema}.keep_close(
	a_id bytea, a_scope text, a_ticket text, a_moved bigint, a_keep bigint,
	OUT held boolean, OUT held_rule text, OUT held_scope text, OUT held_key text
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	clock bigint := {schema}.micros(a_moved);
BEGIN
	INSERT INTO {schema}.ticket AS t (id, scope, ticket, rule, ref_scope, key, held_until, closed_until)
	VALUES (a_id, a_scope, a_ticket, '', '', '', 0, clock + a_keep)
	ON CONFLICT (id) DO UPDATE SET
		closed_until = CASE WHEN t.held_until > clock THEN t.closed_until ELSE excluded.closed_until END
	RETURNING t.held_until > clock, t.rule, t.ref_scope, t.key INTO held, held_rule, held_scope, held_key;
END
$$;

-- Drops what is over, so many rows at most, and passes by what others are at.
CREATE FUNCTION {schema}.sweep(a_moved bigint, a_format bigint, a_rows bigint, OUT records bigint, OUT tickets bigint) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	clock bigint := {schema}.micros(a_moved);
BEGIN
	WITH over AS MATERIALIZED (
		SELECT t.rule, t.id FROM {schema}.record t
		WHERE t.keep_until > 0 AND t.keep_until <= clock AND t.v <= a_format
		ORDER BY t.keep_until LIMIT a_rows FOR UPDATE SKIP LOCKED)
	DELETE FROM {schema}.record t USING over WHERE t.rule = over.rule AND t.id = over.id;
	GET DIAGNOSTICS records = ROW_COUNT;
	WITH over AS MATERIALIZED (
		SELECT t.id FROM {schema}.ticket t
		WHERE greatest(t.held_until, t.closed_until) <= clock
		ORDER BY greatest(t.held_until, t.closed_until) LIMIT a_rows FOR UPDATE SKIP LOCKED)
	DELETE FROM {schema}.ticket t USING over WHERE t.id = over.id;
	GET DIAGNOSTICS tickets = ROW_COUNT;
END
$$;
