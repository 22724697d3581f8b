// What `npm start` and `npm test` do first: install, generate, build. Node built-ins only, as nothing else is here yet.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildStamp, hasOutputs, installStamp } from './bootstrap-stamps.mjs'
import { withLock } from './lock.mjs'

export const root = resolve(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** A mistake the person at the keyboard can put right; its message is the whole report. */
export class SetupProblem extends Error {}

/** Runs `main` as this process: a SetupProblem is one line, anything else is a defect and shows its stack. */
export async function run(main) {
  try {
    process.exitCode = await main()
  } catch (error) {
    console.error(error instanceof SetupProblem ? `✗ ${error.message}` : error)
    process.exitCode = 1
  }
}

/** The command line of the pinned pnpm, which needs no installation. */
export const pnpm = (...args) => ['npx', '--yes', manifest.packageManager, ...args]

/** Installs and builds what changed since the last time; does nothing, in a few milliseconds, when nothing did. */
export async function bootstrap() {
  checkTools()
  if (isUpToDate()) return
  await withLock(
    root,
    () => console.error('• another start is setting up this folder; waiting for it'),
    setUp,
  )
}

function checkTools() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [neededMajor, neededMinor] = manifest.engines.node.match(/\d+/g).map(Number)
  if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
    throw new SetupProblem(
      `Node ${process.versions.node} is too old: install ${neededMajor}.${neededMinor} or newer from https://nodejs.org`,
    )
  }
  if (spawnSync('git', ['--version'], { stdio: 'ignore' }).status !== 0) {
    throw new SetupProblem('git is missing: install it, for example with "sudo apt-get install -y git"')
  }
}

const stampFile = (name) => join(root, 'node_modules', `.switchyard-${name}`)
const isFresh = (name, stamp) =>
  existsSync(stampFile(name)) && readFileSync(stampFile(name), 'utf8') === stamp
const isBuilt = (stamp) => isFresh('build', stamp) && hasOutputs(root)
const isUpToDate = () => isFresh('install', installStamp(root)) && isBuilt(buildStamp(root))

async function setUp() {
  const wanted = installStamp(root)
  if (!isFresh('install', wanted)) {
    await step('dependencies', pnpm('install', '--frozen-lockfile', '--prefer-offline'))
    mkdirSync(join(root, 'node_modules'), { recursive: true })
    writeFileSync(stampFile('install'), wanted)
  }
  const built = buildStamp(root)
  if (!isBuilt(built)) {
    await step('build', pnpm('run', 'build'))
    // Taken before the build: what was edited meanwhile is built next time.
    writeFileSync(stampFile('build'), built)
  }
}

/** Runs a command quietly, shows that it does, and its whole output only when it fails. */
async function step(label, [command, ...args]) {
  const startedAt = performance.now()
  const progress = showProgress(label)
  // pnpm asks before it replaces a folder of another version, unless it thinks it is in CI.
  const env = { ...process.env, CI: 'true', TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' }
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk))
  const failure = await new Promise((settle) => {
    child.once('error', (error) => settle(error.message))
    child.once('close', (code, signal) => settle(code === 0 ? null : `exit ${code ?? signal}`))
  })
  progress.end()
  if (failure !== null) {
    process.stderr.write(Buffer.concat(output))
    throw new SetupProblem(`${label} failed (${failure}): ${[command, ...args].join(' ')}`)
  }
  console.error(`✓ ${label} ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
}

function showProgress(label) {
  if (!process.stderr.isTTY) {
    console.error(`• ${label} …`)
    return { end() {} }
  }
  const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
  let frame = 0
  const timer = setInterval(() => {
    frame = (frame + 1) % frames.length
    process.stderr.write(`\r\x1b[K${frames[frame]} ${label} …`)
  }, 80)
  return {
    end() {
      clearInterval(timer)
      process.stderr.write('\r\x1b[K')
    },
  }
}
