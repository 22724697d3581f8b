// `pnpm check`: runs all checks, two at a time, and prints ✓ or ✗ for each, and the output of failed checks.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrap, root, run } from '../ops/setup/bootstrap.mjs'
import { runGroup } from '../ops/setup/child-group.mjs'
import { partsOfChecks } from '../ops/setup/setup-parts.mjs'
import { pnpm } from '../ops/setup/setup-step.mjs'

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const checks = [...Object.keys(scripts).filter((name) => name.startsWith('check:')), 'db:drift']

async function check(name, stop) {
  const startedAt = performance.now()
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', NO_COLOR: '1' }
  const output = []
  const onOutput = (chunk) => output.push(chunk)
  const status = await runGroup(pnpm(root, 'run', name), stop, { cwd: root, env, onOutput })
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
  const waiting = [...checks]
  const failed = []
  await Promise.all([checkNext(waiting, failed, stop), checkNext(waiting, failed, stop)])
  console.log(failed.length === 0 ? `${checks.length} checks passed` : `Failed: ${failed.join(', ')}`)
  return failed.length === 0 ? 0 : 1
})
