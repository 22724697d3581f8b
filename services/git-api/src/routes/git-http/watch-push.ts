import { PassThrough, pipeline, type Readable, Transform } from 'node:stream'
import type { RefChange } from '../../presenters/hooks/push-hook.js'

/** Commands and report of a push that moves thousands of references; more than that is not looked at. */
const keptBytesMax = 4 * 1024 * 1024

export interface WatchedPush {
  /** To be read instead of the request. */
  input: Readable
  /** To be written instead of the answer. */
  output: PassThrough
  /** What the client asked for and git reports as done; known when both streams have ended. */
  changes(): RefChange[]
}

/**
 * Looks on while a client pushes: the request begins with one command for each reference, the answer says of each
 * whether it was carried out (gitprotocol-pack, "Reference Update Request" and "Report Status").
 */
export function watchPush(request: Readable): WatchedPush {
  const commands = new KeptStart()
  const report = new KeptStart()
  const input = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      commands.add(chunk)
      done(null, chunk)
    },
  })
  // Whoever reads it learns of an error by that.
  pipeline(request, input, () => undefined)
  const output = new PassThrough()
  output.on('data', (chunk: Buffer) => report.add(chunk))
  return {
    input,
    output,
    changes() {
      const said = report.text()
      return readCommands(commands.bytes()).filter(({ ref }) => said.includes(`ok ${ref}\n`))
    },
  }
}

class KeptStart {
  readonly #chunks: Buffer[] = []
  #size = 0

  add(chunk: Buffer): void {
    if (this.#size >= keptBytesMax) return
    this.#chunks.push(Buffer.from(chunk))
    this.#size += chunk.length
  }

  bytes = () => Buffer.concat(this.#chunks)
  text = () => this.bytes().toString()
}

/** Packet lines `<old> <new> <reference>` up to the flush packet; the first one also bears capabilities. */
function readCommands(bytes: Buffer): RefChange[] {
  const changes: RefChange[] = []
  let offset = 0
  while (offset + 4 <= bytes.length) {
    const length = Number.parseInt(bytes.toString('latin1', offset, offset + 4), 16)
    if (!(length >= 4)) break
    const line = bytes.toString('utf8', offset + 4, offset + length).split('\0', 1)[0] ?? ''
    const command = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (.+?)\n?$/.exec(line)
    if (command) changes.push({ before: command[1] ?? '', after: command[2] ?? '', ref: command[3] ?? '' })
    offset += length
  }
  return changes
}
