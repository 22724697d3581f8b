import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DomainError, invalidParameters } from '@switchyard/domain'
import { arriving, type Call } from '@switchyard/service-kit/http'
import multer from 'multer'

type Request = Call['raw']['request']

interface ReceivingForm<Stored> {
  /** A form that brings no byte for this time is refused. */
  idleMs: number
  /** Takes the file of the form as it arrives, at most once. */
  store: (chunks: AsyncIterable<Buffer>) => Promise<Stored>
}

/** Enough for the fields that clients send beside the file, which count for nothing. */
const limits = { files: 1, fields: 20, fieldSize: 64 * 1024, parts: 21, headerPairs: 20 }

/**
 * Receives the field `file` of a multipart form as a stream.
 *
 * @returns the file name that the client gave, and the stored object
 * @throws DomainError invalid-parameters for a malformed form, another file and no file; timed-out; every
 *   error of `store`
 */
export async function receiveForm<Stored extends object>(
  { raw: { request, response }, signal }: Call,
  { idleMs, store }: ReceivingForm<Stored>,
): Promise<{ fileName: string; stored: Stored }> {
  let fileName = ''
  let storing: Promise<Stored> | undefined
  await new Promise<void>((resolve, reject) => {
    // A file that cannot be stored ends the form as well, which is then not the reason.
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
          // multer answers when the client has sent everything. A refusal does not wait for that.
          storing.then(
            () => done(),
            (error: unknown) => {
              reject(error)
              done(error)
            },
          )
        },
        // A file whose form turns out to be malformed behind it has no row, so that housekeeping removes it.
        _removeFile: (_request: unknown, _file: Express.Multer.File, done: (error: Error | null) => void) =>
          done(null),
      },
      // A stalled form is refused, and so is a form whose sender may no longer upload.
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

/** Every error that is no refusal is one of reading the form. */
const refusedForm = (error: unknown): DomainError =>
  error instanceof DomainError
    ? error
    : new DomainError('invalid-parameters', 'the form is invalid', { cause: error })
