/** The error of pg for a statement, and of Prisma. */
type ConstraintError = Error & { constraint?: unknown }

/** Whether a row was refused because its project has been deleted meanwhile. */
export const isMissingProject = (error: unknown): boolean =>
  error instanceof Error &&
  /foreign key/i.test(error.message) &&
  /_project_id_fkey\b/.test(`${(error as ConstraintError).constraint ?? error.message}`)
