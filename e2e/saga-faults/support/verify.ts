import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { expect } from 'vitest'
import { queryAll } from './query-all.js'
import type { Reported } from './traffic.js'

const rebuild = resolve(import.meta.dirname, '../../../services/saga-reporter/dist/rebuild/main.js')

/** Every event was acknowledged and is in the log once, nothing else is, and every saga is what its events say. */
export async function expectNothingLost({ results, finals }: Reported, databaseUrl: string): Promise<void> {
  expect(results.size).toBeGreaterThan(0)
  expect([...results].filter(([, { outcome }]) => outcome !== 'stored')).toEqual([])
  const logged = await readMap<number>(
    databaseUrl,
    "SELECT coalesce(activity_id, saga_id) || ' ' || operation AS key, count(*)::integer AS value FROM saga_events WHERE tenant = 'default' GROUP BY 1",
  )
  expect([...results.keys()].filter((key) => logged.get(key) !== 1)).toEqual([])
  expect([...logged.keys()].filter((key) => !results.has(key))).toEqual([])
  const states = await readMap<string>(
    databaseUrl,
    "SELECT id AS key, status || ' ' || coalesce(outcome, 'null') AS value FROM sagas WHERE tenant = 'default'",
  )
  expect([...finals.keys()].map((id) => [id, states.get(id)])).toEqual([...finals])
  await expectDerivedFromLog(databaseUrl)
}

async function readMap<Value>(databaseUrl: string, sql: string): Promise<Map<string, Value>> {
  const rows = await queryAll(databaseUrl, sql)
  return new Map(rows.map(({ key, value }) => [key as string, value as Value]))
}

/** What `pnpm saga:rebuild --verify` runs finds nothing that is not as the log says. */
async function expectDerivedFromLog(databaseUrl: string): Promise<void> {
  const { code, output } = await new Promise<{ code: number; output: string }>((settle) => {
    const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl }
    execFile(process.execPath, [rebuild, '--verify'], { env, timeout: 60_000 }, (error, stdout, stderr) =>
      settle({ code: error ? Number(error.code ?? -1) : 0, output: stdout + stderr }),
    )
  })
  expect(output).toMatch(
    /^[1-9]\d* sagas and \d+ activities follow from the log; 0 differences, 0 repaired\n$/,
  )
  expect(code).toBe(0)
}
