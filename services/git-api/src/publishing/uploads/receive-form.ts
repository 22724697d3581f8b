import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DomainError, invalidParameters } from '@switchyard/domain'
import { arriving, type Call } from '@switchyard/service-kit/http'
import multer from 'multer'

type Request = Call['raw']['request']

interface ReceivingForm<Stored> {
  /** Time without any byte after which a form is refused. */
  idleMs: number
  /** Stores the file of the form while it arrives. It is called at most once. */
  store: (chunks: AsyncIterable<Buffer>) => Promise<Stored>
}

/** Large enough for the further fields that clients send, which are ignored. */
const limits = { files: 1, fields: 20, fieldSize: 64 * 1024, parts: 21, headerPairs: 20 }

/**
 * Receives the field `file` of a multipart form as a stream.
 *
 * @returns the file name that the client gave, and the stored object
 * @throws DomainError invalid-parameters for a malformed form, for a second file, and without a file;
 *   timed-out; every error of `store`
 */
export async function receiveForm<Stored extends object>(
  { raw: { request, response }, signal }: Call,
  { idleMs, store }: ReceivingForm<Stored>,
): Promise<{ fileName: string; stored: Stored }> {
  let fileName = ''
  let storing: Promise<Stored> | undefined
  await new Promise<void>((resolve, reject) => {
    // A file that cannot be stored also ends the form, so the error of storing comes first.
    const fail = (error: unknown) =>
      (storing ?? Promise.resolve()).then(() => reject(refusedForm(error)), reject)
    const options = {
      limits,
      defParamCharset: 'utf8',
      storage: {
        _handleFile(_request: unknown, file: Express.Multer.File, done: (error?: unknown) => void) {
          fileName = file.originalname
          storing = store(file.stream).catch((error: unknown) => {
            throw error === file.stream.errored ? refusedForm(error) : error
          })
          // multer calls back only when the client has sent everything. A refusal does not wait for that.
          storing.then(
            () => done(),
            (error: unknown) => {
              reject(error)
              done(error)
            },
          )
        },
        // When the rest of a form is malformed, its stored file gets no row, so housekeeping removes it.
        _removeFile: (_request: unknown, _file: Express.Multer.File, done: (error: Error | null) => void) =>
          done(null),
      },
      // Refuses a stalled form, and a form whose sender may no longer upload.
      streamHandler(given: Request, parser: Writable) {
        const pace = { periodMs: idleMs, periodBytesMin: 1 }
        pipeline(arriving(given, pace, signal), parser).catch(fail)
      },
    }
    multer(options).single('file')(request, response, (error: unknown) => (error ? fail(error) : resolve()))
  })
  if (!storing) throw invalidParameters(['file is missing'])
  return { fileName, stored: await storing }
}

/** Returns the refusal of an error. Every other error comes from reading the form. */
const refusedForm = (error: unknown): DomainError =>
  error instanceof DomainError
    ? error
    : new DomainError('invalid-parameters', 'the form is invalid', { cause: error })
