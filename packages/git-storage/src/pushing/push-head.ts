import { PassThrough, pipeline, type Readable } from 'node:stream'
import { invalid, tooLarge } from '@switchyard/domain'
import { flushPacket, packetLine } from './packet-lines.js'

/** What a push may hold before its pack. */
export const pushLimits = {
  /** References that it changes. */
  commandsMax: 20_000,
  /** Bytes of the list of these references. */
  commandBytesMax: 8 * 1024 * 1024,
  /** Options (`git push -o`). */
  optionsMax: 100,
  /** Bytes of the list of options. */
  optionBytesMax: 64 * 1024,
}

/** The part of a push that precedes its pack: the references to change, and the options. */
export interface PushHead {
  /** How many references the push wants to change. */
  commandCount: number
  /** All that the client sends, from the beginning. */
  body: Readable
}

/** A push is refused as a whole, before git has seen any of it. */
export class PushRefused extends Error {
  /** The refusal as git's clients show it; null where the client asked for no report. */
  readonly report: string | null

  constructor(reason: string, report: string | null) {
    super(reason)
    this.report = report
  }

  /** The same for clients that asked for no report. */
  asDomainError = () => tooLarge(this.message)
}

/**
 * Reads what a client sends up to its pack ("Reference Update Request" in gitprotocol-pack).
 *
 * @throws PushRefused beyond {@link pushLimits}; DomainError invalid for what is not git's protocol, or breaks off; what
 *   the input fails with
 */
export async function readPushHead(input: Readable): Promise<PushHead> {
  const chunks: AsyncIterableIterator<Buffer> = input.iterator({ destroyOnReturn: false })
  const body = new PassThrough()
  const parser = new HeadParser()
  for await (const chunk of chunks) {
    parser.add(chunk)
    body.write(chunk)
    if (parser.isComplete) {
      // Whoever reads the body learns of an error by that.
      pipeline(input, body, () => undefined)
      return { commandCount: parser.commandCount, body }
    }
  }
  throw invalid('git-receive-pack could not read the request')
}

/** Counts packets while they arrive, in pieces of any size, and looks for what the client can do. */
class HeadParser {
  commandCount = 0
  isComplete = false
  #section: 'commands' | 'options' = 'commands'
  #packets = 0
  #bytes = 0
  /** The digits of a length of which some are still to come. */
  #digits = ''
  /** Bytes of the current packet that are still to come. */
  #missing = 0
  /** The current packet, as far as it has come. */
  #text = ''
  /** Stand behind a NUL in the first command, which references of a shallow clone may precede. */
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
    const capabilities = this.#text.split('\0', 2)[1]
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
    throw new PushRefused(reason, reportOf(reason, this.#capabilities))
  }
}

/** "Report Status" in gitprotocol-pack: nothing was unpacked, for this reason. */
function reportOf(reason: string, capabilities: ReadonlySet<string>): string | null {
  if (!capabilities.has('report-status') && !capabilities.has('report-status-v2')) return null
  const report = `${packetLine(`unpack ${reason}\n`)}${flushPacket}`
  if (!capabilities.has('side-band-64k')) return report
  return `${packetLine(`\x01${report}`)}${flushPacket}`
}
