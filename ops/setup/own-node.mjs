// Runs a script of this folder again on the Node that Switchyard needs, when the machine's own is older. So
// these modules use only features of Node 20.19.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { constants, homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { pnpm, SetupProblem, step } from './setup-step.mjs'

const majorOf = (version) => Number.parseInt(version, 10)

/** Returns whether this Node has at least the major version that `.node-version` names. */
export const isOwnNode = (root) => majorOf(process.versions.node) >= majorOf(versionFor(root))

const versionFor = (root) => readFileSync(join(root, '.node-version'), 'utf8').trim()

/**
 * Runs the script of this process again, on a Node that is fetched once from npm's registry and that is first
 * in the PATH of everything the script starts. The new process receives signals, and ends by itself when this
 * process is killed (`stopSignal`).
 *
 * @param stop an AbortSignal that ends the download
 * @returns the exit code
 */
export async function runOnOwnNode(root, stop) {
  const bin = join(await fetchNode(root, stop), 'bin')
  // npm and pnpm name their Node in these variables, and pnpm prefers that one.
  const outdated = { NODE: undefined, npm_node_execpath: undefined }
  const env = { ...process.env, ...outdated, PATH: bin + delimiter + process.env.PATH }
  const child = spawn(join(bin, 'node'), process.argv.slice(1), { stdio: 'inherit', env })
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => child.kill(name))
  return await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]))
  })
}

/**
 * Returns the folder of the fetched programs (Node, Redis, nginx): one for all checkouts and data folders of
 * a user, so that a restore needs no network on a machine where Switchyard has run.
 */
export function toolsFolder(root) {
  const { SWITCHYARD_TOOLS, XDG_CACHE_HOME } = process.env
  if (SWITCHYARD_TOOLS) return resolve(root, SWITCHYARD_TOOLS)
  return join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'switchyard', 'tools')
}

/** Returns the folder of the fetched Node, which is kept with the other programs. */
async function fetchNode(root, stop) {
  const version = versionFor(root)
  const tools = toolsFolder(root)
  const folder = join(tools, `node-${version}`)
  console.error(
    `• Switchyard runs on Node ${majorOf(version)}; this machine has ${process.versions.node}, so it takes the one in ${folder}`,
  )
  if (existsSync(folder)) return folder
  // `mkdirSync` with `recursive` never returns for a folder below /proc.
  const made = spawnSync('mkdir', ['-p', '-m', '700', '--', tools], { encoding: 'utf8' })
  if (made.status !== 0)
    throw new SetupProblem(
      `Cannot write to ${tools}: make it yours, or set SWITCHYARD_TOOLS to another folder`,
    )
  // Two starts may fetch at the same time: each works in a folder of its own, and the first rename wins.
  const partial = `${folder}.${process.pid}.partial`
  try {
    const name = packageName()
    // A folder without a manifest would get the package of a workspace above it.
    mkdirSync(partial)
    writeFileSync(join(partial, 'package.json'), '{}')
    // pnpm is needed anyway and unpacks in half the time of npm. Both check the integrity of what they fetch.
    const options = [
      '--ignore-workspace',
      '--ignore-scripts',
      '--prefer-offline',
      '--config.node-linker=hoisted',
    ]
    const advice = `\n  Let npm reach its registry, or install Node ${majorOf(version)} or newer from https://nodejs.org`
    await step(`Node ${version}`, stop, pnpm(root, 'add', ...options, `${name}@${version}`), {
      cwd: partial,
      advice,
    })
    symlinkSync(join('node_modules', name, 'bin'), join(partial, 'bin'))
    renameSync(partial, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
  return folder
}

/** Returns the npm package with Node's own binary for this platform. */
function packageName() {
  const platform = `${process.platform}-${process.arch}`
  return `${platform === 'darwin-arm64' ? 'node-bin' : 'node'}-${platform}`
}
