// `pnpm trial NAME [ARGUMENT…]` runs a trial, `pnpm trial` lists them. A trial is a folder beside this file,
// a benchmark a folder in `bench`. It runs its `run.ts` or `run.mjs`, or otherwise its tests, which are a
// project of vitest.config.ts. The README beside the folders describes each one.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrap, root, run } from '../ops/setup/bootstrap.mjs'
import { runGroup } from '../ops/setup/child-group.mjs'
import { partsThatRun } from '../ops/setup/setup-parts.mjs'

const here = import.meta.dirname
const vitest = join(root, 'node_modules/vitest/vitest.mjs')

/** Returns the command of a trial; undefined when the folder is not a trial. */
function commandOf(folder) {
  const file = (name) => join(here, folder, name)
  if (existsSync(file('run.mjs'))) return [process.execPath, file('run.mjs')]
  if (existsSync(file('run.ts'))) return [process.execPath, '--import', 'tsx', file('run.ts')]
  if (!existsSync(join(here, folder))) return undefined
  const hasTests = readdirSync(join(here, folder)).some((name) => name.endsWith('.test.ts'))
  return hasTests ? [process.execPath, vitest, 'run', '--project', folder, '--reporter=verbose'] : undefined
}

const namesIn = (folder) =>
  readdirSync(join(here, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && commandOf(join(folder, entry.name)))
    .map(({ name }) => name)

/** Returns the descriptions of the trials in the README's table, without their links. */
function meaningsIn(folder) {
  const rows = readFileSync(join(here, folder, 'README.md'), 'utf8').matchAll(
    /^\| `([\w-]+)` *\| ([^|]+) \|/gm,
  )
  return new Map([...rows].map(([, name, meaning]) => [name, meaning.split(': [')[0].trim()]))
}

function list(prefix, folder) {
  const meanings = meaningsIn(folder)
  for (const name of namesIn(folder))
    console.log(`  ${`${prefix}${name}`.padEnd(22)} ${meanings.get(name) ?? ''}`)
}

const [name = '', ...given] = process.argv.slice(process.argv[2] === '--' ? 3 : 2)
const [folder, args] = name === 'bench' ? [join('bench', given[0] ?? ''), given.slice(1)] : [name, given]
const command = name === '' ? undefined : commandOf(folder)

if (command) {
  await run(async (stop) => {
    // Services run as built.
    await bootstrap(stop, { names: partsThatRun(root), withTools: true })
    return await runGroup([...command, ...args], stop, { cwd: root })
  })
} else {
  console.log('Usage: pnpm trial NAME [ARGUMENT…]')
  list('', '.')
  list('bench ', 'bench')
  process.exitCode = name === '' || name === '--help' ? 0 : 2
}
