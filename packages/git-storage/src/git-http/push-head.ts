import { PassThrough, pipeline, type Readable } from 'node:stream'
import { type DomainError, invalid, tooLarge } from '@switchyard/domain'
import { isZeroId } from '@switchyard/domain/access'
import { flushPacket, packetLine } from './packet-lines.js'

/** Limits of the part of a push before its pack. */
export const pushLimits = {
  /** Most references that a push changes. */
  commandsMax: 20_000,
  /** Most bytes of the list of these references. */
  commandBytesMax: 8 * 1024 * 1024,
  /** Most options (`git push -o`). */
  optionsMax: 100,
  /** Most bytes of the list of options. */
  optionBytesMax: 64 * 1024,
}

/** The part of a push before its pack: the references to change, and the options. */
export interface PushHead {
  /** Number of references to change. */
  commandCount: number
  /** Whether a reference is created or moved. Otherwise all are deleted, and no objects are sent. */
  adds: boolean
  /** Creates the refusal of the whole push. */
  refuse: (reason: DomainError) => PushRefused
  /** The whole request body, from its first byte on. */
  body: Readable
}

/** The refusal of a whole push, before git starts. */
export class PushRefused extends Error {
  /** The refusal in git's protocol; null when the client did not ask for a report. */
  readonly report: string | null
  /** The error for clients that did not ask for a report. */
  readonly reason: DomainError

  constructor(reason: DomainError, report: string | null) {
    super(reason.message)
    this.reason = reason
    this.report = report
  }
}

/**
 * Reads a push up to its pack ("Reference Update Request" in gitprotocol-pack).
 *
 * @throws PushRefused beyond {@link pushLimits}; DomainError invalid when the bytes violate git's protocol or
 *   end early; the error of the input
 */
export async function readPushHead(input: Readable): Promise<PushHead> {
  const chunks: AsyncIterableIterator<Buffer> = input.iterator({ destroyOnReturn: false })
  const body = new PassThrough()
  const parser = new HeadParser()
  for await (const chunk of chunks) {
    parser.add(chunk)
    body.write(chunk)
    if (parser.isComplete) {
      // The reader of the body receives an error through the body.
      pipeline(input, body, () => undefined)
      const { commandCount, adds } = parser
      return { commandCount, adds, body, refuse: (reason) => parser.refusal(reason) }
    }
  }
  throw invalid('git-receive-pack could not read the request')
}

/** Counts packets that arrive in chunks of any size, and collects the capabilities of the client. */
class HeadParser {
  commandCount = 0
  adds = false
  isComplete = false
  #section: 'commands' | 'options' = 'commands'
  #packets = 0
  #bytes = 0
  /** The digits of an incomplete length. */
  #digits = ''
  /** Number of bytes of the current packet that have not arrived. */
  #missing = 0
  /** The received part of the current packet. */
  #text = ''
  /**
   * The capabilities follow a NUL in the first command. Lines of a shallow clone may precede that command.
   */
  readonly #capabilities = new Set<string>()

  add(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && !this.isComplete) {
      const missing = this.#missing || flushPacket.length - this.#digits.length
      const text = chunk.toString('latin1', at, at + missing)
      at += text.length
      if (this.#missing > 0) this.#addText(text)
      else this.#addDigits(text)
    }
  }

  #addText(text: string): void {
    if (this.#section === 'commands') this.#text += text
    this.#missing -= text.length
    if (this.#missing === 0) this.#endPacket()
  }

  #addDigits(digits: string): void {
    this.#digits += digits
    if (this.#digits === flushPacket) this.#endSection()
    else if (this.#digits.length === flushPacket.length) this.#startPacket()
  }

  #startPacket(): void {
    if (!/^[0-9a-f]{4}$/i.test(this.#digits)) throw invalid('git-receive-pack could not read the request')
    const length = Number.parseInt(this.#digits, 16)
    this.#digits = ''
    if (length < flushPacket.length) throw invalid('git-receive-pack could not read the request')
    this.#missing = length - flushPacket.length
    this.#packets += 1
    this.#bytes += length
    const { commandsMax, commandBytesMax, optionsMax, optionBytesMax } = pushLimits
    if (this.#section === 'options') {
      if (this.#packets > optionsMax) this.#refuse(`A push can have ${optionsMax} options at most`)
      if (this.#bytes > optionBytesMax) this.#refuse('The options of this push are too long')
      return
    }
    if (this.#packets > commandsMax) {
      this.#refuse(`A push can change ${commandsMax} references at most; push them in several parts`)
    }
    if (this.#bytes > commandBytesMax) {
      this.#refuse(
        'The names of the references of this push are too long together; push them in several parts',
      )
    }
  }

  #endPacket(): void {
    const [command = '', capabilities] = this.#text.split('\0', 2)
    const after = /^[0-9a-f]{40} ([0-9a-f]{40}) /.exec(command)?.[1]
    if (after !== undefined && !isZeroId(after)) this.adds = true
    for (const name of capabilities?.trim().split(' ') ?? []) this.#capabilities.add(name)
    this.#text = ''
  }

  #endSection(): void {
    this.#digits = ''
    if (this.#section === 'options') {
      this.isComplete = true
      return
    }
    this.commandCount = this.#packets
    this.isComplete = !this.#capabilities.has('push-options')
    this.#section = 'options'
    this.#packets = 0
    this.#bytes = 0
  }

  #refuse(reason: string): never {
    throw this.refusal(tooLarge(reason))
  }

  refusal(reason: DomainError): PushRefused {
    return new PushRefused(reason, reportOf(reason.message, this.#capabilities))
  }
}

/** Returns a report that nothing was unpacked ("Report Status" in gitprotocol-pack). */
function reportOf(reason: string, capabilities: ReadonlySet<string>): string | null {
  if (!capabilities.has('report-status') && !capabilities.has('report-status-v2')) return null
  const report = `${packetLine(`unpack ${reason}\n`)}${flushPacket}`
  if (!capabilities.has('side-band-64k')) return report
  return `${packetLine(`\x01${report}`)}${flushPacket}`
}
