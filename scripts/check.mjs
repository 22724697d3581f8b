// `pnpm check`: every check there is, one after the other, each with ✓ or ✗, and the output of those that failed.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrap, pnpm, root, run } from './bootstrap.mjs'

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const checks = [...Object.keys(scripts).filter((name) => name.startsWith('check:')), 'db:drift']

function check(name) {
  const startedAt = performance.now()
  const [command, ...args] = pnpm('run', name)
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', NO_COLOR: '1' }
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${status === 0 ? '✓' : '✗'} ${name} ${seconds} s`)
  if (status !== 0) console.log(`${stdout}${stderr}`)
  return status === 0
}

await run(async () => {
  await bootstrap()
  const failed = checks.filter((name) => !check(name))
  console.log(failed.length === 0 ? `${checks.length} checks passed` : `Failed: ${failed.join(', ')}`)
  return failed.length === 0 ? 0 : 1
})
