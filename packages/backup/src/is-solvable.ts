import { ConfigError } from '@switchyard/config'
import { SolvableProblem } from '@switchyard/terminal'
import pg from 'pg'

/**
 * Whether an error is a problem that the operator can solve, and not a defect: a problem that this program
 * names, an error of the operating system, such as a full disk, or an error of PostgreSQL. Node gives its own
 * errors a `code`, too, but no `syscall`.
 */
export const isSolvable = (error: unknown): error is Error =>
  error instanceof SolvableProblem ||
  error instanceof ConfigError ||
  error instanceof pg.DatabaseError ||
  (error instanceof Error && 'syscall' in error)
