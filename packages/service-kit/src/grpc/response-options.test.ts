import { once } from 'node:events'
import { expect, it } from 'vitest'
import { startStreams } from '../../test/intercepted-streams.js'
import { completeResponseOptions } from './response-options.js'

it('the options that all answers share get what would be added to each copy, and no answer has a date', async () => {
  const { open, ask, close } = await startStreams(completeResponseOptions())
  const options = { waitForTrailers: true }
  const answers = [ask(), ask(), ask()].map(async (request) => {
    const [headers] = await once(request, 'response')
    const [trailers] = await once(request.resume(), 'trailers')
    return { date: headers.date, status: headers[':status'], trailer: trailers.end }
  })
  await expect.poll(() => open.length).toBe(3)
  for (const stream of open) {
    stream.on('wantTrailers', () => stream.sendTrailers({ end: '0' }))
    stream.respond({ ':status': 200 }, options)
    stream.end('answer')
  }
  const answer = { date: undefined, status: 200, trailer: '0' }
  expect(await Promise.all(answers)).toEqual([answer, answer, answer])
  expect(options).toEqual({ waitForTrailers: true, endStream: false, sendDate: false })
  close()
})
