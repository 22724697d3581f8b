import { ConfigError } from '@switchyard/config'
import { SolvableProblem } from '@switchyard/terminal'
import pg from 'pg'

/**
 * Returns whether an error is a problem that the operator can solve, and not a defect. That is a problem that
 * this program names, an error of the operating system, such as a full disk, or an error of PostgreSQL.
 * Node's own errors have a `code`, too, but no `syscall`.
 */
export const isSolvable = (error: unknown): error is Error =>
  error instanceof SolvableProblem ||
  error instanceof ConfigError ||
  error instanceof pg.DatabaseError ||
  (error instanceof Error && 'syscall' in error)
