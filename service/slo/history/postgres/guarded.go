package postgres

import (
	"context"
	"database/sql/driver"
	"fmt"
)

// The driver takes lengths from the server as they come and panics at some. A
// daemon is a gateway first: whatever listens where its database was, or between
// them, must not end it. A guarded connection turns a panic into an error and is not
// used again.

// pqConn is what the driver's connections can.
type pqConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
	driver.NamedValueChecker
}

type guarded struct {
	pqConn
	broken bool
}

// caught makes an error of a panic; it is to be deferred.
func (c *guarded) caught(err *error) {
	if v := recover(); v != nil {
		c.broken = true
		*err = fmt.Errorf("what answers there does not speak PostgreSQL's protocol: %v", v)
	}
}

func (c *guarded) IsValid() bool { return !c.broken && c.pqConn.IsValid() }

func (c *guarded) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (r driver.Result, err error) {
	defer c.caught(&err)
	return c.pqConn.ExecContext(ctx, query, args)
}

func (c *guarded) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (r driver.Rows, err error) {
	defer c.caught(&err)
	if r, err = c.pqConn.QueryContext(ctx, query, args); err != nil {
		return nil, err
	}
	return &guardedRows{r, c}, nil
}

func (c *guarded) PrepareContext(ctx context.Context, query string) (s driver.Stmt, err error) {
	defer c.caught(&err)
	if s, err = c.pqConn.PrepareContext(ctx, query); err != nil {
		return nil, err
	}
	return &guardedStmt{s.(pqStmt), c}, nil
}

func (c *guarded) BeginTx(ctx context.Context, o driver.TxOptions) (tx driver.Tx, err error) {
	defer c.caught(&err)
	if tx, err = c.pqConn.BeginTx(ctx, o); err != nil {
		return nil, err
	}
	return &guardedTx{tx, c}, nil
}

type guardedTx struct {
	driver.Tx
	c *guarded
}

func (t *guardedTx) Commit() (err error) {
	defer t.c.caught(&err)
	return t.Tx.Commit()
}

func (t *guardedTx) Rollback() (err error) {
	defer t.c.caught(&err)
	return t.Tx.Rollback()
}

type pqStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type guardedStmt struct {
	pqStmt
	c *guarded
}

func (s *guardedStmt) Close() (err error) {
	defer s.c.caught(&err)
	return s.pqStmt.Close()
}

func (s *guardedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (r driver.Result, err error) {
	defer s.c.caught(&err)
	return s.pqStmt.ExecContext(ctx, args)
}

func (s *guardedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (r driver.Rows, err error) {
	defer s.c.caught(&err)
	if r, err = s.pqStmt.QueryContext(ctx, args); err != nil {
		return nil, err
	}
	return &guardedRows{r, s.c}, nil
}

type guardedRows struct {
	driver.Rows
	c *guarded
}

func (r *guardedRows) Next(to []driver.Value) (err error) {
	defer r.c.caught(&err)
	return r.Rows.Next(to)
}

func (r *guardedRows) Close() (err error) {
	defer r.c.caught(&err)
	return r.Rows.Close()
}
