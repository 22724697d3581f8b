import { createHash } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { zeroId } from '@switchyard/domain/access'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PushRules } from '../../src/git-http/answer-hook.js'
import { packetLine } from '../../src/git-http/packet-lines.js'
import { servePush } from '../../src/git-http/serve-push.js'
import { type BareRepository, createBareRepository, historyStream, seededRandom } from '../random-history.js'

let repository: BareRepository
let head: string

beforeAll(async () => {
  repository = await createBareRepository()
  const stream = historyStream(seededRandom(1), { commits: 1, merges: 0, skewSeconds: 0 })
  await repository.feed(stream, 'fast-import', '--quiet', '--done')
  head = (await repository.git('rev-list', '--all', '-1')).trim()
})
afterAll(() => repository?.close())

/** Returns a pack without objects. */
function emptyPack(): Buffer {
  const start = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  return Buffer.concat([start, createHash('sha1').update(start).digest()])
}

test('a push holds its repository until the references are changed, even if its client does not read the report', async () => {
  const names = Array.from({ length: 2_000 }, (_, number) => `refs/tags/${'long-'.repeat(40)}${number}`)
  const commands = names.map((name, index) =>
    packetLine(`${zeroId} ${head} ${name}${index === 0 ? '\0report-status' : ''}`),
  )
  const input = Readable.from([Buffer.from(`${commands.join('')}0000`), emptyPack()])
  const output = new PassThrough()
  let isHeld = false
  const rules: PushRules = {
    judge: () => ({ outcome: 'allowed' }),
    locks: new Map(),
    needsLfsObjects: false,
    findRoom: async () => 1024 ** 3,
    takeSpace: async () => {},
    noteFullDisk: () => {},
    recordIntent: async () => {},
    async withoutMove(work) {
      isHeld = true
      const result = await work()
      isHeld = false
      return result
    },
  }
  const session = {
    path: repository.path,
    protocol: undefined,
    idleMs: 60_000,
    signal: new AbortController().signal,
  }
  const pushed = servePush(session, input, output, rules)
  await waitFor(() => isHeld, { what: 'git to be allowed to change the references' })
  await waitFor(() => !isHeld, { what: 'the repository to be released' })
  expect((await repository.git('for-each-ref', '--format=%(refname)', 'refs/tags')).split('\n')).toHaveLength(
    2_000,
  )

  const report = buffer(output)
  expect(await pushed).toHaveLength(2_000)
  output.end()
  expect((await report).toString().match(/ok refs\/tags\//g)).toHaveLength(2_000)
})
