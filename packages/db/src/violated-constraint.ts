import { Prisma } from './generated/client.js'

interface DriverError {
  driverAdapterError?: { cause?: { constraint?: { index?: string } } }
}

/**
 * The unique index that a write violated, e.g. `users_username_key_key`; null when the write failed for another reason.
 */
export function violatedUniqueIndex(error: unknown): string | null {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError) || error.code !== 'P2002') return null
  return (error.meta as DriverError | undefined)?.driverAdapterError?.cause?.constraint?.index ?? ''
}

/** The error of pg for a statement, and of Prisma. */
type ConstraintError = Error & { constraint?: unknown }

/** Whether a row was refused because its project has been deleted meanwhile. */
export const isMissingProject = (error: unknown): boolean =>
  error instanceof Error &&
  /foreign key/i.test(error.message) &&
  /_project_id_fkey\b/.test(`${(error as ConstraintError).constraint ?? error.message}`)
