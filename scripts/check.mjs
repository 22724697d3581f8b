// `pnpm check [NAME…]`: runs all checks, or the named ones, two at a time. Prints ✓ or ✗ for each, and the
// output of failed checks.
import { delimiter, join } from 'node:path'
import { readArguments } from '../ops/setup/arguments.mjs'
import { bootstrap, root, run } from '../ops/setup/bootstrap.mjs'
import { runGroup } from '../ops/setup/child-group.mjs'
import { partsOfChecks } from '../ops/setup/setup-parts.mjs'

const tsc = ['node', 'node_modules/@typescript/native/bin/tsc']

/** The commands of each check. */
const checks = {
  format: [['biome', 'ci', '.']],
  types: [
    tsc,
    ...['packages/banner/src/element', 'services/console/web', 'trials/end-to-end/console'].map((folder) => [
      ...tsc,
      '-p',
      folder,
    ]),
  ],
  boundaries: [['node', 'scripts/check-boundaries.mjs']],
  house: [['node', 'scripts/check-house.mjs']],
  unused: [['knip'], ['knip', '--production']],
  regexes: [['node', 'scripts/check-regexes.mjs']],
  generated: [['node', 'scripts/check-generated.mjs']],
  openapi: [['node', 'scripts/openapi.mjs', '--check']],
  configuration: [['node', '--import', 'tsx', 'scripts/configuration.mjs', '--check']],
  drift: [['node', 'scripts/with-infra.mjs', '--postgres', 'tsx', 'packages/db/scripts/drift.ts']],
}
const names = Object.keys(checks)
const usage = `pnpm check [NAME…]
  Runs all checks, or those that are named: ${names.join(', ')}`
const { operands: wanted } = readArguments(usage, { operands: names.map(() => 'NAME?') })
const unknown = wanted.find((name) => !(name in checks))
if (unknown !== undefined) {
  console.error(`✗ there is no check '${unknown}'\nUsage: ${usage}`)
  process.exit(2)
}

async function check(name, stop) {
  const startedAt = performance.now()
  const PATH = join(root, 'node_modules/.bin') + delimiter + process.env.PATH
  const env = { ...process.env, PATH, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', NO_COLOR: '1' }
  const output = []
  const onOutput = (chunk) => output.push(chunk)
  let status = 0
  for (const command of checks[name]) status ||= await runGroup(command, stop, { cwd: root, env, onOutput })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${status === 0 ? '✓' : '✗'} ${name} ${seconds} s`)
  if (status !== 0) console.log(Buffer.concat(output).toString())
  return status === 0
}

/** Runs checks from the list until none is left. */
async function checkNext(waiting, failed, stop) {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (!(await check(name, stop))) failed.push(name)
    stop.throwIfAborted()
  }
}

await run(async (stop) => {
  await bootstrap(stop, { names: partsOfChecks, withTools: true })
  const waiting = wanted.length > 0 ? [...wanted] : [...names]
  const count = waiting.length
  const failed = []
  await Promise.all([checkNext(waiting, failed, stop), checkNext(waiting, failed, stop)])
  console.log(failed.length === 0 ? `${count} checks passed` : `Failed: ${failed.join(', ')}`)
  return failed.length === 0 ? 0 : 1
})
