// `pnpm check`: every check there is, two at a time, each with ✓ or ✗, and the output of those that failed.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrap, pnpm, root, run } from './bootstrap.mjs'

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const checks = [...Object.keys(scripts).filter((name) => name.startsWith('check:')), 'db:drift']

async function check(name) {
  const startedAt = performance.now()
  const [command, ...args] = pnpm('run', name)
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', NO_COLOR: '1' }
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  child.stdout.on('data', (chunk) => output.push(chunk))
  child.stderr.on('data', (chunk) => output.push(chunk))
  const status = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${status === 0 ? '✓' : '✗'} ${name} ${seconds} s`)
  if (status !== 0) console.log(Buffer.concat(output).toString())
  return status === 0
}

/** Takes checks from the list until none is left. */
async function checkNext(waiting, failed) {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (!(await check(name))) failed.push(name)
  }
}

await run(async () => {
  await bootstrap()
  const waiting = [...checks]
  const failed = []
  await Promise.all([checkNext(waiting, failed), checkNext(waiting, failed)])
  console.log(failed.length === 0 ? `${checks.length} checks passed` : `Failed: ${failed.join(', ')}`)
  return failed.length === 0 ? 0 : 1
})
