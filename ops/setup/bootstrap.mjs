// The setup of `npm start` and `npm test`: installs dependencies, and builds bundles and pages from the
// sources. It imports only Node's own modules, because no dependency may be installed yet. It checks no
// types; `pnpm check` does.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { installStamp, partStamps } from './bootstrap-stamps.mjs'
import { release } from './installed.mjs'
import { withLock } from './lock.mjs'
import { isOwnNode, runOnOwnNode } from './own-node.mjs'
import { databaseClient, listParts } from './setup-parts.mjs'
import { pnpm, SetupProblem, step } from './setup-step.mjs'
import { stopSignal } from './stop-signal.mjs'

export const root = resolve(import.meta.dirname, '../..')

/** The version of Switchyard. */
export const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/**
 * Runs `main` on the Node that Switchyard needs, in this process or a new one, and makes its result the exit
 * code. `main` receives an AbortSignal that is aborted when it has to stop. A SetupProblem is shown as one
 * line; any other error is a defect and shows its stack.
 */
export async function run(main) {
  const stop = stopSignal()
  try {
    process.exitCode = isOwnNode(root) ? await main(stop) : await runOnOwnNode(root, stop)
  } catch (error) {
    process.exitCode = stop.aborted ? 128 + constants.signals[stop.reason] : 1
    if (!stop.aborted) console.error(error instanceof SetupProblem ? `✗ ${error.message}` : error)
  }
}

/** Ends this process at once when `stop` is aborted, for scripts that have nothing to clean up. */
export function exitWhenStopped(stop) {
  stop.throwIfAborted()
  stop.addEventListener('abort', () => process.exit(128 + constants.signals[stop.reason]))
}

/**
 * Installs missing dependencies, and builds the parts whose sources have changed. A release has all of it
 * already.
 *
 * @param stop an AbortSignal; when it is aborted, the installation or a step ends and this rejects
 * @param names of the required parts
 * @param withTools whether the dependencies of tests and checks are installed, too
 */
export async function bootstrap(stop, { names, withTools = false }) {
  checkGit()
  if (release || (isInstalled(withTools) && findStale(names).length === 0)) return
  await withLock(
    root,
    stop,
    () => console.error('• another start is setting up this folder; waiting for it'),
    () => setUp(stop, names, withTools),
  )
}

function checkGit() {
  if (spawnSync('git', ['--version'], { stdio: 'ignore' }).status !== 0) {
    throw new SetupProblem('git is missing: install it, for example with "sudo apt-get install -y git"')
  }
}

const installFile = join(root, 'node_modules/.switchyard-install')
const partsFile = join(root, 'node_modules/.switchyard-parts')
const readIfThere = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)

/**
 * Returns whether the dependencies of tests and checks are installed, which pnpm records. They stay installed
 * for `npm start`.
 */
const hasTools = () =>
  /"devDependencies": ?true/.test(readIfThere(join(root, 'node_modules/.modules.yaml')) ?? '')

const isInstalled = (withTools) =>
  readIfThere(installFile) === installStamp(root) && (hasTools() || !withTools)

/** Returns the stamps of the built parts, by their names. */
const readMade = () => JSON.parse(readIfThere(partsFile) ?? '{}')

/** Returns those of these parts, and of the parts that they need, that have changed or are missing. */
function findStale(names) {
  const parts = listParts(root)
  const stampOf = partStamps(root)
  const made = readMade()
  const wanted = new Set(names.flatMap((name) => [parts.get(name).after ?? name, name]))
  return [...wanted]
    .map((name) => ({ name, ...parts.get(name), stamp: stampOf(parts.get(name)) }))
    .filter(({ name, stamp, output }) => made[name] !== stamp || !existsSync(join(root, output)))
}

async function setUp(stop, names, withTools) {
  if (!isInstalled(withTools)) await install(stop, withTools || hasTools())
  await makeParts(findStale(names), stop)
}

async function install(stop, withTools) {
  const stamp = installStamp(root)
  const args = ['--frozen-lockfile', '--prefer-offline', ...(withTools ? [] : ['--prod'])]
  await step('dependencies', stop, pnpm(root, 'install', ...args), { cwd: root })
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  writeFileSync(installFile, stamp)
}

/** Builds parts at the same time. Bundles are built one after the other, after the client of the database. */
async function makeParts(parts, stop) {
  const make = async (label, made, command, options) => {
    await step(label, stop, command, options)
    // The fingerprint is older than the part, so that a source that is edited meanwhile is used next time.
    const stamps = Object.fromEntries(made.map(({ name, stamp }) => [name, stamp]))
    writeFileSync(partsFile, JSON.stringify({ ...readMade(), ...stamps }))
  }
  const making = new Map(
    parts
      .filter(({ command }) => command)
      .map((part) => [
        part.name,
        make(part.name, [part], part.command, { cwd: join(root, part.cwd), env: part.env }),
      ]),
  )
  const makeBundles = async () => {
    await making.get(databaseClient)
    const bundles = parts.filter(({ command }) => !command)
    if (bundles.length === 0) return
    const folders = bundles.map(({ name }) => name)
    const few = folders.map((folder) => basename(folder)).join(', ')
    const label = folders.length > 3 ? `${folders.length} bundles` : `bundles of ${few}`
    await make(label, bundles, [process.execPath, 'ops/bundler/bundle-service.mjs', ...folders], {
      cwd: root,
    })
  }
  // All end before this rejects, so that nothing is built in the background afterwards.
  const results = await Promise.allSettled([...making.values(), makeBundles()])
  const failure = results.find(({ status }) => status === 'rejected')
  if (failure) throw failure.reason
}
