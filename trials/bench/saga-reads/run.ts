import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase } from '@switchyard/db'
import { applyMigrations } from '@switchyard/db/migrations'
import { startPostgres } from '@switchyard/local-servers'
import { detailedSaga, fill, sagaCount, warm } from '../../support/fill-sagas.js'
import { Asked, rounds } from './asked.js'
import { questions } from './questions.js'
import { createToken, startService } from './service.js'

const passes = 3

/** A given folder is kept, so that the next run finds it filled. */
const dataDir = process.env.DATA_DIR ?? mkdtempSync(join(tmpdir(), 'switchyard-bench-'))
const postgres = await startPostgres({ dataDir, log: console.error })
const database = createDatabase({
  url: postgres.url,
  poolSizeMax: 2,
  applicationName: 'bench',
  // Filling takes minutes.
  answerTimeoutMs: 0,
})
try {
  await applyMigrations(postgres.url)
  const { rows } = await database.pool.query('SELECT FROM sagas LIMIT 1')
  if (rows.length === 0) await fill(database, console.log)
  await warm(database)
  await measure()
} finally {
  await database.close()
  await postgres.stop()
  if (!process.env.DATA_DIR) rmSync(dataDir, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  const secret = await createToken(database)
  const service = await startService(postgres.url)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (path: string) => request(agent, service.port, secret, path)
  try {
    const asked = questions.map(
      ({ name, query }) => new Asked(name, (round) => ask(`/sagas?per_page=50&${query(round)}`)),
    )
    asked.push(new Asked('one saga with 20 activities', () => ask(`/sagas/${detailedSaga}`)))
    for (let pass = 0; pass < passes; pass += 1) for (const question of asked) await question.pass()
    console.log(
      `${sagaCount} sagas; milliseconds of ${passes} passes of ${rounds} requests, one after the other\n`,
    )
    console.log('| question | p50 | p99 | p99 of the quietest pass | rows |\n| --- | --- | --- | --- | --- |')
    for (const question of asked) console.log(question.line())
  } finally {
    agent.destroy()
    await service.stop()
  }
}

function request(agent: Agent, port: number, token: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      agent,
      port,
      host: '127.0.0.1',
      path: `/api/v4${path}`,
      headers: { 'PRIVATE-TOKEN': token },
    }
    get(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString()
        if (response.statusCode === 200) resolve(body)
        else reject(new Error(`${path}: ${response.statusCode} ${body}`))
      })
    }).on('error', reject)
  })
}
