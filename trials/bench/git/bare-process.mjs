import { once } from 'node:events'
import { createServer } from 'node:http'
import { createDatabase, findCaller } from '@switchyard/db'
import { callerOf, createAuthenticator, tokenOf } from '@switchyard/service-kit/http'
import express from 'express'

/**
 * The baseline of warm reads: express alone, which sends the same bytes to every request with a valid token.
 */
const database = createDatabase({
  url: process.env.DATABASE_URL ?? '',
  poolSizeMax: 2,
  applicationName: 'bare',
})
const { authenticate } = createAuthenticator((hash) => findCaller(database, hash))
const answers = JSON.parse(process.env.BARE_ANSWERS ?? '{}')

const app = express()
for (const [path, body] of Object.entries(answers)) {
  app.get(path, async (request, response) => {
    await callerOf(tokenOf(request.headers), authenticate)
    response.type('json').send(body)
  })
}
const server = createServer(app).listen(0, '127.0.0.1')
await once(server, 'listening')
process.once('disconnect', () => process.exit(0))
process.send?.(server.address().port)
