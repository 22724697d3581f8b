// The steps of the setup, shown by their names and durations. Several may run at once.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runGroup } from './child-group.mjs'

/**
 * A problem that the user can solve. Only its message is printed. packages/terminal has another one for
 * everything after the setup.
 */
export class SetupProblem extends Error {}

/** Returns the command line of the pnpm that the manifest of a checkout pins, which npx provides. */
export function pnpm(root, ...args) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return ['npx', '--yes', packageManager, ...args]
}

/**
 * Runs a command and prints its output only when it fails.
 *
 * @param stop an AbortSignal; when it is aborted, the command ends and this rejects
 * @param options `cwd` and `env` of the command; `advice`: what the user can do when it fails
 */
export async function step(label, stop, command, { cwd, env, advice = '' }) {
  const endProgress = showProgress(label)
  // Outside of CI, pnpm asks for confirmation before it replaces a folder of another version.
  const quiet = { CI: 'true', TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' }
  const output = []
  const onOutput = (chunk) => output.push(chunk)
  const code = await runGroup(command, stop, { cwd, env: { ...process.env, ...quiet, ...env }, onOutput })
  const seconds = endProgress()
  stop.throwIfAborted()
  if (code !== 0) {
    process.stderr.write(Buffer.concat(output))
    throw new SetupProblem(`${label} failed (exit ${code}): ${command.join(' ')}${advice}`)
  }
  console.error(`✓ ${label} ${seconds} s`)
}

/** The running steps, with their start times. */
const running = new Map()
let timer

const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
const frameMs = 80
/** Interval at which a step reports that it continues, when the output is not a terminal. */
const repeatMs = 10_000

const secondsOf = (label) => ((performance.now() - running.get(label)) / 1000).toFixed(1)
const describeRunning = () => [...running.keys()].map((label) => `${label} ${secondsOf(label)} s`).join(', ')
const clearLine = () => process.stderr.isTTY && process.stderr.write('\r\x1b[K')

/**
 * Shows the progress of a step.
 *
 * @returns a function that ends the progress of this step and returns its seconds as a text
 */
function showProgress(label) {
  if (!process.stderr.isTTY) console.error(`• ${label} …`)
  running.set(label, performance.now())
  timer ??= process.stderr.isTTY ? setInterval(draw, frameMs) : setInterval(repeat, repeatMs)
  return () => {
    const seconds = secondsOf(label)
    running.delete(label)
    clearLine()
    if (running.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
    return seconds
  }
}

function draw() {
  const frame = frames[Math.floor(performance.now() / frameMs) % frames.length]
  const text = `${frame} ${describeRunning()} …`
  // A line that wraps could not be cleared.
  process.stderr.write(`\r\x1b[K${text.slice(0, (process.stderr.columns ?? 80) - 1)}`)
}

const repeat = () => console.error(`• still at work: ${describeRunning()}`)
