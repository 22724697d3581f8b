import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { queryAll } from '../support/query-all.js'
import type { Reported } from './load/traffic.js'

const rebuild = resolve(import.meta.dirname, '../../services/saga-reporter/dist/bundle/rebuild.js')

/**
 * @returns the events that are lost, duplicate or refused, and the sagas whose state contradicts their events
 */
export async function findLostEvents({ results, finals }: Reported, databaseUrl: string): Promise<string[]> {
  const logged = await readMap<number>(
    databaseUrl,
    "SELECT coalesce(activity_id, saga_id) || ' ' || operation AS key, count(*)::integer AS value FROM saga_events WHERE tenant = 'default' GROUP BY 1",
  )
  const states = await readMap<string>(
    databaseUrl,
    "SELECT id AS key, status || ' ' || coalesce(outcome, 'null') AS value FROM sagas WHERE tenant = 'default'",
  )
  return [
    ...[...results]
      .filter(([, { outcome }]) => outcome !== 'stored')
      .map(([key, result]) => `${key}: ${JSON.stringify(result)}`),
    ...[...results.keys()]
      .filter((key) => logged.get(key) !== 1)
      .map((key) => `${key} is in the log ${logged.get(key) ?? 0} times`),
    ...[...logged.keys()].filter((key) => !results.has(key)).map((key) => `${key} was reported by nobody`),
    ...[...finals]
      .filter(([id, final]) => states.get(id) !== final)
      .map(([id, final]) => `saga ${id} is ${states.get(id)} in place of ${final}`),
  ]
}

async function readMap<Value>(databaseUrl: string, sql: string): Promise<Map<string, Value>> {
  const rows = await queryAll(databaseUrl, sql)
  return new Map(rows.map(({ key, value }) => [key as string, value as Value]))
}

/** @returns the output of `pnpm saga:rebuild --verify` when the rows do not follow from the log */
export async function verifyDerivedRows(databaseUrl: string): Promise<string[]> {
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl }
  const output = await new Promise<string>((settle) => {
    execFile(process.execPath, [rebuild, '--verify'], { env, timeout: 600_000 }, (error, stdout, stderr) =>
      settle(`${stdout}${stderr}${error ? ` exit code ${error.code}` : ''}`),
    )
  })
  const isRight = /^[1-9]\d* sagas and \d+ activities follow from the log; 0 differences, 0 repaired\n$/
  return isRight.test(output) ? [] : [`saga:rebuild --verify: ${output}`]
}
