import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { DomainError } from '@switchyard/domain'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { flushPacket, packetLine } from './packet-lines.js'
import { PushRefused, pushLimits, readPushHead } from './push-head.js'

const command = (ref: string, capabilities = '') =>
  packetLine(`${'0'.repeat(40)} ${'1'.repeat(40)} ${ref}${capabilities && `\0${capabilities}`}\n`)

/** Returns the bytes of a request, cut into chunks at these positions. */
function inChunks(text: string, cuts: readonly number[]): Readable {
  const positions = [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b), text.length]
  const chunks = positions
    .slice(1)
    .map((end, index) => Buffer.from(text.slice(positions[index], end), 'latin1'))
  return Readable.from(chunks.filter(({ length }) => length > 0))
}

const refusalOf = (text: string) => readPushHead(inChunks(text, [])).catch((error: unknown) => error)

describe('the beginning of a push', () => {
  it('is read up to its pack and passed on unchanged, in chunks of any size', async () => {
    const names = fc.array(fc.constantFrom('refs/heads/a', 'refs/tags/b', 'refs/heads/ü'), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(
        names,
        fc.boolean(),
        fc.array(fc.nat(), { maxLength: 20 }),
        async (refs, has, cuts) => {
          const capabilities = `report-status${has ? ' push-options' : ''}`
          const commands = refs.map((ref, index) => command(ref, index === 0 ? capabilities : ''))
          const options = has ? packetLine('ci.skip') + flushPacket : ''
          const text = `${commands.join('')}${flushPacket}${options}PACK0000zzzz`
          const { commandCount, body } = await readPushHead(inChunks(text, cuts))
          expect(commandCount).toBe(refs.length)
          expect((await buffer(body)).toString('latin1')).toBe(text)
        },
      ),
    )
  })

  it('finds the options of a shallow clone, too, which sends its edges before its references', async () => {
    const many = packetLine('n.o').repeat(pushLimits.optionsMax + 1)
    const shallow = packetLine(`shallow ${'1'.repeat(40)}`)
    const text = shallow + command('refs/heads/a', 'report-status push-options') + flushPacket + many
    expect(await refusalOf(text)).toBeInstanceOf(PushRefused)
  })

  it.each(['', '0', '0032want', 'zzzz', '0001', `${command('refs/heads/a')}`])(
    '%j is refused as unreadable',
    async (text) => {
      const error = (await refusalOf(text)) as DomainError
      expect(error).toBeInstanceOf(DomainError)
      expect(error.detail).toBe('git-receive-pack could not read the request')
    },
  )

  it('passes on the error of its input', async () => {
    const input = new PassThrough()
    input.destroy(new Error('broken'))
    await expect(readPushHead(input)).rejects.toThrow('broken')
  })
})

describe('a push beyond the limits', () => {
  const first = command('refs/heads/a', 'report-status')

  it.each([
    ['references', first + command('refs/tags/t').repeat(pushLimits.commandsMax), 'references at most'],
    ['bytes of names', first + packetLine('x'.repeat(60_000)).repeat(150), 'too long together'],
  ])('of %s is refused before its list ends, with the reason', async (_what, text, reason) => {
    const error = (await refusalOf(text)) as PushRefused
    expect(error).toBeInstanceOf(PushRefused)
    expect(error.report).toBe(`${packetLine(`unpack ${error.message}\n`)}${flushPacket}`)
    expect(error.message).toContain(reason)
  })

  it('has no report for a client that did not ask for one', async () => {
    const error = (await refusalOf(command('refs/tags/t').repeat(pushLimits.commandsMax + 1))) as PushRefused
    expect([error.report, error.reason.kind]).toEqual([null, 'too-large'])
  })
})
