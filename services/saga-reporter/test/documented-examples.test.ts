import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readLog } from './event-log.js'
import { createTokens, startHarness } from './harness.js'

const root = resolve(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/sagas.md'), 'utf8')

/** Returns the first code block of a language. */
function example(language: string): string {
  const code = new RegExp(`\n\`\`\`${language}\n(.*?)\n\`\`\`\n`, 's').exec(page)?.[1]
  if (code === undefined) throw new Error(`docs/sagas.md has no example in ${language}`)
  return code
}

const python = process.env.SWITCHYARD_TEST_GRPC_PYTHON || 'python3'
const { failed: withoutStubs } = await execa(python, ['-c', 'import grpc, grpc_tools'], { reject: false })
if (withoutStubs) console.warn('SKIPPED: the example in Python, which needs grpcio-tools')

let harness: Awaited<ReturnType<typeof startHarness>>
let env: Record<string, string>
const folder = mkdtempSync(join(tmpdir(), 'switchyard-examples-'))
beforeAll(async () => {
  harness = await startHarness({ SAGA_AUTH: 'token' })
  const { reporter } = await createTokens(harness.database)
  const address = `127.0.0.1:${harness.grpcPort}`
  env = { SAGA_ADDRESS: address, SWITCHYARD_URL: harness.baseUrl, TOKEN: reporter }
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await harness?.close()
})

/** Asserts that the log has the four events of an example's saga, and that its tag finds the saga. */
async function expectSaga(name: string) {
  const log = await readLog(harness.database)
  const ofSaga = log.filter(
    ({ sagaId, activityId }) => sagaId === `trip-${name}` || activityId === `trip-${name}-flight`,
  )
  const operations = ['SagaStarted', 'ActivityExecuteStarted', 'ActivityEnded', 'SagaEnded']
  expect(ofSaga.map(({ operation }) => operation)).toEqual(operations)
  expect(ofSaga.every(({ eventId }) => eventId !== null)).toBe(true)
  const tags = await harness.database.pool.query(`SELECT tag FROM saga_tags WHERE saga_id = 'trip-${name}'`)
  expect(tags.rows).toEqual([{ tag: 'order=42' }])
}

describe('the examples of docs/sagas.md report a whole saga', () => {
  it('with the Node client', async () => {
    const file = join(import.meta.dirname, `example-${process.pid}.ts`)
    writeFileSync(file, example('ts'))
    try {
      const args = ['--import', 'tsx', file]
      const { stdout } = await execa(process.execPath, args, { env, cwd: root, timeout: 300_000 })
      expect(stdout.match(/outcome: 'stored'/g)).toHaveLength(4)
    } finally {
      rmSync(file)
    }
    await expectSaga('node')
  })

  it('with curl', async () => {
    const { stdout } = await execa('sh', ['-c', example('sh')], { env, timeout: 300_000 })
    const result = { outcome: 'recorded', message: 'recorded', errors: '' }
    expect(JSON.parse(stdout)).toEqual({ results: [result, result, result, result] })
    await expectSaga('curl')
    const again = JSON.parse((await execa('sh', ['-c', example('sh')], { env, timeout: 300_000 })).stdout)
    expect(again.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual(
      Array.from({ length: 4 }, () => 'duplicate'),
    )
  })

  it.skipIf(withoutStubs)('with Python', async () => {
    const protos = [
      'saga.proto',
      ...['saga', 'saga_ingest'].map((name) => `switchyard/sagas/v1/${name}.proto`),
    ]
    const out = [`--python_out=${folder}`, `--grpc_python_out=${folder}`]
    const generate = ['-m', 'grpc_tools.protoc', '-I', join(root, 'proto'), ...out]
    await execa(python, [...generate, ...protos])
    const report = { input: example('python'), env: { ...env, PYTHONPATH: folder }, timeout: 300_000 }
    const { stdout } = await execa(python, ['-'], report)
    expect(stdout.match(/EVENT_OUTCOME_RECORDED recorded/g)).toHaveLength(4)
    await expectSaga('python')
  })
})
