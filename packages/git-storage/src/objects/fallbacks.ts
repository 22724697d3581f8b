import { UnknownLayout } from './layout.js'

/**
 * Called each time the local reader leaves a question to git.
 *
 * @param reason one of a fixed set of texts
 * @param error unset when the layout is not supported or a file is missing
 */
export type OnFallback = (reason: string, error?: Error) => void

/** An object or a file is malformed. */
export class DamagedObject extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'DamagedObject'
  }
}

/**
 * Reports an error after which git answers instead. Rethrows every other error, such as a defect of the local reader or the
 * end of a request.
 */
export function reportFallback(error: unknown, onFallback: OnFallback): void {
  if (error instanceof UnknownLayout) onFallback(error.message)
  else if (error instanceof DamagedObject) onFallback('damaged object', error)
  else if (!isSystemError(error)) throw error
  else if (error.code === 'ENOENT') onFallback('missing file')
  else onFallback('file cannot be read', error)
}

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error && 'code' in error
