// The setup of `npm start` and `npm test`: install, generate, build. It imports only Node's own modules, because no dependency
// may be installed yet.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join, resolve } from 'node:path'
import { buildStamp, hasOutputs, installStamp } from './bootstrap-stamps.mjs'
import { withLock } from './lock.mjs'
import { isOwnNode, runOnOwnNode } from './own-node.mjs'
import { SetupProblem, step } from './setup-step.mjs'
import { stopSignal } from './stop-signal.mjs'

export const root = resolve(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Of Switchyard. */
export const version = manifest.version

/**
 * Runs `main` on the Node that Switchyard needs, in this process or one of its own, and makes its result the exit code. `main`
 * gets an AbortSignal that says when to stop. A SetupProblem is shown as one line, any other error is a defect and shows its
 * stack.
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

/** The command line of the pinned pnpm, which npx provides. */
export const pnpm = (...args) => ['npx', '--yes', manifest.packageManager, ...args]

/**
 * Installs and builds the parts that have changed since the last run.
 *
 * @param stop an AbortSignal; when it is aborted, the installation or build ends and this rejects
 */
export async function bootstrap(stop) {
  checkGit()
  if (isUpToDate()) return
  await withLock(
    root,
    stop,
    () => console.error('• another start is setting up this folder; waiting for it'),
    () => setUp(stop),
  )
}

function checkGit() {
  if (spawnSync('git', ['--version'], { stdio: 'ignore' }).status !== 0) {
    throw new SetupProblem('git is missing: install it, for example with "sudo apt-get install -y git"')
  }
}

const stampFile = (name) => join(root, 'node_modules', `.switchyard-${name}`)
const isFresh = (name, stamp) =>
  existsSync(stampFile(name)) && readFileSync(stampFile(name), 'utf8') === stamp
const isBuilt = (stamp) => isFresh('build', stamp) && hasOutputs(root)
const isUpToDate = () => isFresh('install', installStamp(root)) && isBuilt(buildStamp(root))

async function setUp(stop) {
  const wanted = installStamp(root)
  if (!isFresh('install', wanted)) {
    await step('dependencies', stop, pnpm('install', '--frozen-lockfile', '--prefer-offline'), root)
    mkdirSync(join(root, 'node_modules'), { recursive: true })
    writeFileSync(stampFile('install'), wanted)
  }
  const built = buildStamp(root)
  if (!isBuilt(built)) {
    await step('build', stop, pnpm('run', 'build'), root)
    // The fingerprint is taken before the build, so that a source that is edited during the build is built next time.
    writeFileSync(stampFile('build'), built)
  }
}
