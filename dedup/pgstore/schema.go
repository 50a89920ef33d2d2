package pgstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// The steps from an empty schema to the present one: schema/N.sql leads to
// version N. A step that was ever released is never changed, and none takes
// away what the functions of an earlier one need: a program that is replaced
// later goes on calling them.
//
//go:embed schema/*.sql
var steps embed.FS

// lastVersion is that of the present schema.
const lastVersion = 1

const (
	// encodings hold every text that is stored.
	encodings = "UTF8, SQL_ASCII"
	// bounds end a step that others keep from going on.
	bounds = `SET LOCAL lock_timeout = '8s'; SET LOCAL statement_timeout = '9s'; SET LOCAL idle_in_transaction_session_timeout = '9s'`
	// metaTable is made with the schema itself.
	metaTable = `CREATE TABLE {schema}.meta (
	one     boolean PRIMARY KEY DEFAULT true CHECK (one),
	version integer NOT NULL,
	epoch   text NOT NULL -- random: the name of this life of the store
)`
)

// migrate brings the schema up to date. Any number of programs may do so at
// once; where there is nothing to do it only reads.
func (s *Store) migrate(ctx context.Context) error {
	return s.aside(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		version, _, err := s.meta(ctx, conn)
		switch {
		case err != nil:
			return err
		case version > lastVersion:
			return newer(version)
		case version == lastVersion:
			return nil
		}
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite},
			func(tx pgx.Tx) error { return s.advance(ctx, tx) })
	})
}

func newer(version int) error {
	return fmt.Errorf("%w: it has version %d, this program knows %d; start the newer program, or name another database", ErrNewer, version, lastVersion)
}

// meta reads the schema's version and epoch; version 0 is no schema.
func (s *Store) meta(ctx context.Context, conn *pgx.Conn) (version int, epoch string, err error) {
	err = conn.QueryRow(ctx, s.sql.meta).Scan(&version, &epoch)
	if noSchema(err) || errors.Is(err, pgx.ErrNoRows) {
		return 0, "", nil
	}
	return version, epoch, err
}

// advance makes the steps that are still to be made, in one transaction, while
// nobody else does.
func (s *Store) advance(ctx context.Context, tx pgx.Tx) error {
	if err := execute(ctx, tx, bounds); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", s.lockNumber()); err != nil {
		return err
	}
	if err := s.prepare(ctx, tx); err != nil {
		return err
	}
	version, _, err := s.meta(ctx, tx.Conn())
	if err != nil {
		return err
	}
	if version > lastVersion {
		return newer(version)
	}
	for ; version < lastVersion; version++ {
		if err := s.step(ctx, tx, version+1); err != nil {
			return fmt.Errorf("schema version %d: %w", version+1, err)
		}
	}
	return nil
}

// prepare makes the schema with its meta table where there is none.
func (s *Store) prepare(ctx context.Context, tx pgx.Tx) error {
	var encoding string
	var schema, table bool
	err := tx.QueryRow(ctx, `SELECT current_setting('server_encoding'),
		EXISTS (SELECT FROM pg_namespace WHERE nspname = $1),
		EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'meta')`, s.o.Schema).Scan(&encoding, &schema, &table)
	if err != nil {
		return err
	}
	if !strings.Contains(encodings, encoding) {
		return fmt.Errorf("the database has the encoding %s: make one with ENCODING 'UTF8'", encoding)
	}
	var todo []string
	if !schema {
		todo = append(todo, "CREATE SCHEMA {schema}")
	}
	if !table {
		todo = append(todo, metaTable, "INSERT INTO {schema}.meta (version, epoch) VALUES (0, '"+rand.Text()+"')")
	}
	for _, text := range todo {
		if err := execute(ctx, tx, s.inSchema(text)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) step(ctx context.Context, tx pgx.Tx, version int) error {
	text, err := steps.ReadFile(fmt.Sprintf("schema/%d.sql", version))
	if err != nil {
		return err
	}
	if err := execute(ctx, tx, s.inSchema(string(text))); err != nil {
		return err
	}
	return execute(ctx, tx, s.inSchema(fmt.Sprintf("UPDATE {schema}.meta SET version = %d", version)))
}

func (s *Store) inSchema(text string) string {
	return strings.ReplaceAll(text, "{schema}", quoted(s.o.Schema))
}

// execute runs statements without arguments.
func execute(ctx context.Context, tx pgx.Tx, text string) error {
	_, err := tx.Conn().PgConn().Exec(ctx, text).ReadAll()
	return err
}

// lockNumber is that of the advisory lock of the schema.
func (s *Store) lockNumber() int64 {
	sum := sha256.Sum256([]byte("oneticket schema " + s.o.Schema))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// migrating brings the schema up to date, once.
func (s *Store) migrating(ctx context.Context) error {
	s.making.Lock()
	defer s.making.Unlock()
	if s.made.Load() {
		return nil
	}
	err := s.migrate(ctx)
	s.made.Store(err == nil)
	return err
}

// missing reports whether the error says that the schema has gone under our
// feet. It is made again then.
func (s *Store) missing(err error) bool {
	gone := noSchema(err)
	if gone {
		s.made.Store(false)
	}
	return gone
}

func noSchema(err error) bool { return code(err) == undefinedSchema || code(err) == undefinedTable }
