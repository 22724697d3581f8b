import type { AuditEntry } from '@switchyard/db'

/** An external system that receives the audit log. */
export interface Destination {
  /** The name under which its position is stored. */
  name: 'syslog' | 'http' | 'otlp'
  /**
   * Resolves when the destination has the entries.
   *
   * @throws ExportError with a reason that administrators may read
   */
  send(entries: readonly AuditEntry[], signal: AbortSignal): Promise<void>
}

/** The reason why a destination did not accept entries. Its text contains no secret and no entry. */
export class ExportError extends Error {}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before everything was taken',
  EPIPE: 'the connection was closed before everything was taken',
  UND_ERR_SOCKET: 'the connection was closed before everything was taken',
  ENOTFOUND: 'the name of the host does not resolve',
  EAI_AGAIN: 'the name of the host could not be resolved',
}

/** Describes a connection error, because its own text may contain internal addresses. */
export function connectionError(error: unknown): ExportError {
  if (error instanceof ExportError) return error
  const code = codeOf(error) ?? codeOf((error as { cause?: unknown }).cause)
  if (code === undefined) return new ExportError('the connection failed', { cause: error })
  return new ExportError(reasons[code] ?? `the connection failed: ${code}`, { cause: error })
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : undefined
}
