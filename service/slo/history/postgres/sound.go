package postgres

import (
	"context"
	"database/sql/driver"
	"fmt"
)

// The driver takes lengths from the server as they come and panics at some. A
// daemon is a gateway first: whatever listens where its database was, or between
// them, must not end it. A sound connection turns a panic into an error and is not
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

type sound struct {
	pqConn
	broken bool
}

// caught makes an error of a panic; it is to be deferred.
func (c *sound) caught(err *error) {
	if v := recover(); v != nil {
		c.broken = true
		*err = fmt.Errorf("what answers there does not speak PostgreSQL's protocol: %v", v)
	}
}

func (c *sound) IsValid() bool { return !c.broken && c.pqConn.IsValid() }

func (c *sound) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (r driver.Result, err error) {
	defer c.caught(&err)
	return c.pqConn.ExecContext(ctx, query, args)
}

func (c *sound) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (r driver.Rows, err error) {
	defer c.caught(&err)
	if r, err = c.pqConn.QueryContext(ctx, query, args); err != nil {
		return nil, err
	}
	return &soundRows{r, c}, nil
}

func (c *sound) PrepareContext(ctx context.Context, query string) (s driver.Stmt, err error) {
	defer c.caught(&err)
	if s, err = c.pqConn.PrepareContext(ctx, query); err != nil {
		return nil, err
	}
	return &soundStmt{s.(pqStmt), c}, nil
}

func (c *sound) BeginTx(ctx context.Context, o driver.TxOptions) (tx driver.Tx, err error) {
	defer c.caught(&err)
	if tx, err = c.pqConn.BeginTx(ctx, o); err != nil {
		return nil, err
	}
	return &soundTx{tx, c}, nil
}

type soundTx struct {
	driver.Tx
	c *sound
}

func (t *soundTx) Commit() (err error) {
	defer t.c.caught(&err)
	return t.Tx.Commit()
}

func (t *soundTx) Rollback() (err error) {
	defer t.c.caught(&err)
	return t.Tx.Rollback()
}

type pqStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type soundStmt struct {
	pqStmt
	c *sound
}

func (s *soundStmt) Close() (err error) {
	defer s.c.caught(&err)
	return s.pqStmt.Close()
}

func (s *soundStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (r driver.Result, err error) {
	defer s.c.caught(&err)
	return s.pqStmt.ExecContext(ctx, args)
}

func (s *soundStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (r driver.Rows, err error) {
	defer s.c.caught(&err)
	if r, err = s.pqStmt.QueryContext(ctx, args); err != nil {
		return nil, err
	}
	return &soundRows{r, s.c}, nil
}

type soundRows struct {
	driver.Rows
	c *sound
}

func (r *soundRows) Next(to []driver.Value) (err error) {
	defer r.c.caught(&err)
	return r.Rows.Next(to)
}

func (r *soundRows) Close() (err error) {
	defer r.c.caught(&err)
	return r.Rows.Close()
}
